# docker build -t overrule .
# docker run --rm -it -v "$PWD:/work" --user "$(id -u):$(id -g)" overrule demo
# The base of the image, which has no shell; gcr.io/distroless/cc-debian12:debug-nonroot has one.
ARG BASE=gcr.io/distroless/cc-debian12:nonroot

FROM rust:1-bookworm AS build
WORKDIR /source
COPY Cargo.toml Cargo.lock README.md LICENSE ./
COPY src src
COPY assets assets
COPY benches benches
COPY data data
RUN cargo build --profile dist --features remote --locked

FROM ${BASE}
COPY --from=build /source/target/dist/overrule /usr/local/bin/overrule
WORKDIR /work
ENTRYPOINT ["overrule"]
