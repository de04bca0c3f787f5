//! The terms on which a call is billed: service tier, region, fast mode, cache retention.

use reqwest::Url;
use serde_json::Value;

/// A provider's service tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServiceTier {
    #[default]
    Default,
    Flex,
    Priority,
    Ultrafast,
}

impl ServiceTier {
    pub const ALL: [Self; 4] = [Self::Default, Self::Flex, Self::Priority, Self::Ultrafast];

    /// Parses a provider's name of a tier, in any notation; `None` for `auto` and unknown names.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_prefix("service_tier_").unwrap_or(&name);
        Some(match name.strip_prefix("on_demand_").unwrap_or(name) {
            "default" | "standard" | "standard_only" | "on_demand" => Self::Default,
            "flex" => Self::Flex,
            // OpenAI's newer name of the tier.
            "priority" | "fast" => Self::Priority,
            "ultrafast" => Self::Ultrafast,
            _ => return None,
        })
    }
}

/// The terms that the price of a call depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BillingTerms {
    pub tier: ServiceTier,
    /// The host keeps the call in a region.
    pub regional: bool,
    /// Anthropic's `inference_geo` is the US.
    pub us_only: bool,
    /// Anthropic's `speed` is fast.
    pub fast_mode: bool,
    /// Cached input is kept for the longer time.
    pub long_cache: bool,
}

/// The terms on which a provider says it served a call, if it says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServedTerms {
    pub tier: Option<ServiceTier>,
    pub us_only: Option<bool>,
    pub fast_mode: Option<bool>,
}

/// The terms on which the calls of a judge may be billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermsRange {
    /// The terms of its request, which apply unless the answer states others.
    pub requested: BillingTerms,
    /// The most expensive terms that may apply, apart from the tier if `any_tier` is set.
    pub dearest: BillingTerms,
    /// Whether the account decides the tier, so that a call may be served on any tier of the model.
    pub any_tier: bool,
}

impl TermsRange {
    /// The terms that a request to `url` asks for. `has_account_tiers` means that the account has a
    /// default tier.
    pub fn of_request(has_account_tiers: bool, url: &Url, request: &Value) -> Self {
        let field = |names: &[&str]| find_field(request, names, Value::as_str);
        let named = field(&["service_tier", "serviceTier"]);
        let tier = named.and_then(ServiceTier::named);
        let dearest_tier = match tier {
            // A provider may serve a cheap tier as a standard one.
            Some(ServiceTier::Flex) => ServiceTier::Default,
            Some(tier) => tier,
            None => ServiceTier::Default,
        };
        let geo = field(&["inference_geo"]);
        let retention = field(&["ttl", "prompt_cache_retention"]);
        let requested = BillingTerms {
            tier: tier.unwrap_or_default(),
            regional: is_regional(url),
            us_only: geo.is_some_and(is_us),
            fast_mode: field(&["speed"]) == Some("fast"),
            long_cache: matches!(retention, Some("1h" | "12h" | "24h")),
        };
        let dearest = BillingTerms {
            tier: dearest_tier,
            // If the request names no place, the workspace's setting applies.
            us_only: geo.is_none_or(is_us),
            ..requested
        };
        Self {
            requested,
            dearest,
            any_tier: tier.is_none() && has_account_tiers,
        }
    }

    /// The tiers on which a call may be served.
    pub fn tiers(&self) -> &[ServiceTier] {
        if self.any_tier {
            &ServiceTier::ALL
        } else {
            std::slice::from_ref(&self.dearest.tier)
        }
    }

    /// The terms of a call, given what its answer says about them.
    pub fn of_answer(&self, served: ServedTerms) -> BillingTerms {
        BillingTerms {
            tier: served.tier.unwrap_or(self.requested.tier),
            us_only: served.us_only.unwrap_or(self.requested.us_only),
            fast_mode: served.fast_mode.unwrap_or(self.requested.fast_mode),
            ..self.requested
        }
    }
}

/// Whether an `inference_geo` is the US.
pub(crate) fn is_us(geo: &str) -> bool {
    geo.eq_ignore_ascii_case("us")
}

/// Whether the host is one of OpenAI's regional hosts, such as `eu.api.openai.com`.
fn is_regional(url: &Url) -> bool {
    url.host_str()
        .is_some_and(|host| host.ends_with(".api.openai.com"))
}

/// The first field of a request with one of these names and a value that `read` accepts, at any
/// depth.
pub(crate) fn find_field<'a, T>(
    request: &'a Value,
    names: &[&str],
    read: fn(&'a Value) -> Option<T>,
) -> Option<T> {
    match request {
        Value::Object(fields) => names
            .iter()
            .find_map(|name| read(fields.get(*name)?))
            .or_else(|| {
                fields
                    .values()
                    .find_map(|inner| find_field(inner, names, read))
            }),
        Value::Array(list) => list.iter().find_map(|inner| find_field(inner, names, read)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::provider::registry::provider_named;
    use serde_json::json;

    fn range(provider: &str, host: &str, request: Value) -> TermsRange {
        let url = Url::parse(host).unwrap();
        TermsRange::of_request(
            provider_named(provider).unwrap().has_account_tiers(),
            &url,
            &request,
        )
    }

    #[test]
    fn a_request_that_leaves_the_tier_to_the_account_may_get_the_dearest() {
        let tiers = |provider, request| {
            let range = range(provider, "https://api.openai.com/v1", request);
            (range.requested.tier, range.tiers().to_vec())
        };
        use ServiceTier::{Default, Flex, Priority};
        const ALL: [ServiceTier; 4] = ServiceTier::ALL;
        for (request, requested, possible) in [
            (json!({}), Default, &ALL[..]),
            (json!({"service_tier": "auto"}), Default, &ALL),
            (json!({"service_tier": "default"}), Default, &[Default]),
            (json!({"service_tier": "flex"}), Flex, &[Default]),
            (json!({"service_tier": "priority"}), Priority, &[Priority]),
            (json!({"service_tier": "fast"}), Priority, &[Priority]),
        ] {
            assert_eq!(
                tiers("openai", request.clone()),
                (requested, possible.to_vec()),
                "{request}"
            );
        }
        let standard = || (Default, vec![Default]);
        assert_eq!(tiers("gemini", json!({})), standard());
        let priority = json!({"serviceTier": "SERVICE_TIER_PRIORITY"});
        assert_eq!(tiers("gemini", priority), (Priority, vec![Priority]));
        assert_eq!(tiers("anthropic", json!({})), standard());
    }

    #[test]
    fn place_speed_and_cache_are_read_from_the_request() {
        let of = |request| range("anthropic", "https://api.anthropic.com", request);
        let plain = of(json!({}));
        assert!(!plain.requested.us_only && plain.dearest.us_only);
        let global = of(json!({"inference_geo": "global"}));
        assert!(!global.dearest.us_only);
        let us = of(json!({"inference_geo": "us", "speed": "fast"}));
        assert!(us.requested.us_only && us.requested.fast_mode && us.dearest.fast_mode);
        let cache = json!({"system": [{"cache_control": {"type": "ephemeral", "ttl": "1h"}}]});
        assert!(of(cache).dearest.long_cache);
        for (host, regional) in [
            ("https://eu.api.openai.com/v1", true),
            ("https://api.openai.com/v1", false),
            ("http://127.0.0.1:8000/v1", false),
        ] {
            assert_eq!(
                range("openai", host, json!({})).requested.regional,
                regional
            );
        }
    }

    #[test]
    fn the_answer_says_on_what_terms_it_was_served() {
        let asked = range(
            "openai",
            "https://us.api.openai.com/v1",
            json!({"service_tier": "priority"}),
        );
        let served = ServedTerms {
            tier: ServiceTier::named("default"),
            ..ServedTerms::default()
        };
        let terms = asked.of_answer(served);
        assert_eq!((terms.tier, terms.regional), (ServiceTier::Default, true));
        let silent = asked.of_answer(ServedTerms::default());
        assert_eq!(silent.tier, ServiceTier::Priority);
        assert_eq!(
            ServiceTier::named("ON_DEMAND_FLEX"),
            Some(ServiceTier::Flex)
        );
        assert_eq!(ServiceTier::named("scale"), None);
    }
}
