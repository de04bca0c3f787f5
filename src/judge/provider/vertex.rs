//! Google's Vertex AI: Gemini's format, at the address of a project and a location.

use super::gemini::{self, Gemini};
use super::provider_trait::{Provider, ProviderLimits};
use super::service::{CallOptions, Environment, KeyHeader, Service, ServiceAccess, VendorKey};
use super::wire_format::WireFormat;
use reqwest::Url;

/// The version of the API.
const VERSION: &str = "v1beta1";

/// Vertex AI.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vertex;

impl Service for Vertex {
    fn name(&self) -> &'static str {
        "vertex"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey::new(
            &["GOOGLE_OAUTH_ACCESS_TOKEN", "VERTEX_API_KEY"],
            &[
                "aiplatform.googleapis.com",
                "<region>-aiplatform.googleapis.com",
                "aiplatform.us.rep.googleapis.com",
                "aiplatform.eu.rep.googleapis.com",
            ],
        );
        ServiceAccess {
            routes: &[],
            ..ServiceAccess::cloud(key, "", "")
        }
    }

    /// The address of the user's project; without one, that of express mode, which takes API keys.
    fn usual_base(&self, env: Environment<'_>) -> Option<String> {
        let location = env("GOOGLE_CLOUD_LOCATION").unwrap_or_else(|| "global".to_owned());
        let host = match location.as_str() {
            "global" => "aiplatform.googleapis.com".to_owned(),
            "us" | "eu" => format!("aiplatform.{location}.rep.googleapis.com"),
            region => format!("{region}-aiplatform.googleapis.com"),
        };
        Some(match env("GOOGLE_CLOUD_PROJECT") {
            Some(project) => format!("https://{host}/projects/{project}/locations/{location}"),
            None => "https://aiplatform.googleapis.com".to_owned(),
        })
    }

    /// API keys are sent in `x-goog-api-key`; everything else is an access token.
    fn key_header(&self, variable: &str) -> KeyHeader {
        if variable.to_ascii_uppercase().ends_with("API_KEY") {
            gemini::KEY_HEADER
        } else {
            KeyHeader::BEARER
        }
    }
}

impl Provider for Vertex {
    fn format(&'static self) -> Box<dyn WireFormat> {
        Box::new(Gemini)
    }

    fn url(&self, base: &Url, options: CallOptions<'_>) -> Url {
        let path = base.path().trim_end_matches('/');
        // Users paste the address of a manual call.
        let path = path
            .split_once("/publishers/")
            .map_or(path, |(before, _)| before);
        let (before, project) = path
            .find("/projects/")
            .map_or((path, ""), |at| path.split_at(at));
        let (before, pasted) = ["/v1beta1", "/v1"]
            .iter()
            .find_map(|version| Some((before.strip_suffix(version)?, Some(&version[1..]))))
            .unwrap_or((before, None));
        let version = options.api_version.or(pasted).unwrap_or(VERSION);
        let model = options
            .model
            .rsplit_once("models/")
            .map_or(options.model, |(_, model)| model);
        let mut url = base.clone();
        url.set_path(&format!(
            "{before}/{version}{project}/publishers/google/models/{model}:generateContent"
        ));
        url
    }

    fn limits(&self) -> ProviderLimits {
        Gemini.limits()
    }

    fn has_account_tiers(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    #[test]
    fn an_address_is_made_of_project_and_location() {
        let base = |project: Option<&str>, location: Option<&str>| {
            let env = |name: &str| match name {
                "GOOGLE_CLOUD_PROJECT" => project.map(str::to_owned),
                "GOOGLE_CLOUD_LOCATION" => location.map(str::to_owned),
                _ => None,
            };
            Vertex.usual_base(&env).unwrap()
        };
        for (project, location, address) in [
            (
                Some("p"),
                None,
                "aiplatform.googleapis.com/projects/p/locations/global",
            ),
            (
                Some("p"),
                Some("us-central1"),
                "us-central1-aiplatform.googleapis.com/projects/p/locations/us-central1",
            ),
            (
                Some("p"),
                Some("eu"),
                "aiplatform.eu.rep.googleapis.com/projects/p/locations/eu",
            ),
            (None, Some("us-central1"), "aiplatform.googleapis.com"),
        ] {
            assert_eq!(base(project, location), format!("https://{address}"));
        }
    }

    #[test]
    fn a_call_goes_to_the_native_route_of_the_model() {
        let url = |base: &str, api_version| {
            let params = Map::new();
            let options = CallOptions {
                model: "gemini-3.8-flash",
                api_version,
                params: &params,
            };
            Vertex.url(&Url::parse(base).unwrap(), options).to_string()
        };
        let model = "publishers/google/models/gemini-3.8-flash:generateContent";
        let place = "projects/p/locations/global";
        for (base, version, route) in [
            (
                format!("https://h/{place}"),
                None,
                format!("v1beta1/{place}/{model}"),
            ),
            (
                format!("https://h/v1/{place}/"),
                None,
                format!("v1/{place}/{model}"),
            ),
            (
                format!("https://h/gateway/v1/{place}/publishers/google/models/x:generateContent"),
                None,
                format!("gateway/v1/{place}/{model}"),
            ),
            (
                format!("https://h/v1/{place}"),
                Some("v1beta1"),
                format!("v1beta1/{place}/{model}"),
            ),
            ("https://h".to_owned(), None, format!("v1beta1/{model}")),
        ] {
            assert_eq!(url(&base, version), format!("https://h/{route}"), "{base}");
        }
    }
}
