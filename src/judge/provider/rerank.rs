//! Services that score documents for a query. Scores of different services are not comparable.
//!
//! Adding a service takes its file and a line in [`SERVICES`].

mod cohere;
mod compatible;
mod jina;
mod mixedbread;
mod nim;
mod pinecone;
mod rerank_provider;
mod tei;
#[cfg(test)]
mod tests;
mod voyage;
mod zeroentropy;

pub use rerank_provider::RerankProvider;
pub(crate) use rerank_provider::{ServiceScores, read, request, url};

/// All services, in the order in which messages list them.
pub const SERVICES: &[&dyn RerankProvider] = &[
    &zeroentropy::ZeroEntropy,
    &cohere::Cohere,
    &voyage::Voyage,
    &jina::Jina,
    &mixedbread::Mixedbread,
    &pinecone::Pinecone,
    &nim::Nim,
    &tei::Tei,
    &compatible::CompatibleReranker,
];

/// The service of that name.
pub fn service_named(name: &str) -> Option<&'static dyn RerankProvider> {
    SERVICES
        .iter()
        .copied()
        .find(|service| service.name() == name)
}

/// The variables in which keys of services are looked up, with the names of the services.
pub fn key_variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    SERVICES.iter().flat_map(|service| {
        let variables = service.access().key.variables.iter();
        variables.map(|variable| (*variable, service.name()))
    })
}
