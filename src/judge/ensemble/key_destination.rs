//! Where a key may go. The key of a well-known variable goes to its vendor's servers only, unless the user's own
//! configuration trusts another: a folder that somebody else made must not lead the user's keys away.

use crate::judge::provider::address::{is_loopback, place};
use reqwest::Url;

/// Well-known variables with their vendors' servers; a name that begins with a dot stands for all servers below it.
/// Variables without a server hold secrets that no judge wants.
const KNOWN: &[(&[&str], &[&str])] = &[
    (
        &["OPENAI_API_KEY", "OPENAI_ADMIN_KEY"],
        &["api.openai.com", ".api.openai.com"],
    ),
    (
        &[
            "AZURE_OPENAI_API_KEY",
            "AZURE_OPENAI_AD_TOKEN",
            "AZURE_API_KEY",
            "AZURE_INFERENCE_CREDENTIAL",
        ],
        &[
            ".openai.azure.com",
            ".openai.azure.us",
            ".cognitiveservices.azure.com",
            ".services.ai.azure.com",
            ".api.cognitive.microsoft.com",
        ],
    ),
    (
        &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        &["api.anthropic.com"],
    ),
    (
        &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        &["generativelanguage.googleapis.com"],
    ),
    (&["OPENROUTER_API_KEY"], &["openrouter.ai"]),
    (&["GROQ_API_KEY"], &["api.groq.com"]),
    (
        &["TOGETHER_API_KEY"],
        &["api.together.ai", "api.together.xyz"],
    ),
    (&["MISTRAL_API_KEY"], &["api.mistral.ai"]),
    (&["DEEPSEEK_API_KEY"], &["api.deepseek.com"]),
    (&["OLLAMA_API_KEY"], &["ollama.com", ".ollama.com"]),
    (
        &["COHERE_API_KEY", "CO_API_KEY"],
        &["api.cohere.com", "api.cohere.ai"],
    ),
    (&["VOYAGE_API_KEY"], &["api.voyageai.com", "ai.mongodb.com"]),
    (&["JINA_API_KEY", "JINA_AI_API_KEY"], &["api.jina.ai"]),
    (
        &["ZEROENTROPY_API_KEY"],
        &["api.zeroentropy.dev", "eu-api.zeroentropy.dev"],
    ),
    (&["XAI_API_KEY"], &["api.x.ai"]),
    (&["FIREWORKS_API_KEY"], &["api.fireworks.ai"]),
    (&["CEREBRAS_API_KEY"], &["api.cerebras.ai"]),
    (&["PERPLEXITY_API_KEY"], &["api.perplexity.ai"]),
    (&["NVIDIA_API_KEY"], &["integrate.api.nvidia.com"]),
    (
        &["DASHSCOPE_API_KEY"],
        &["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"],
    ),
    (
        &["MOONSHOT_API_KEY"],
        &["api.moonshot.ai", "api.moonshot.cn"],
    ),
    (
        &[
            "HF_TOKEN",
            "HUGGING_FACE_HUB_TOKEN",
            "HUGGINGFACEHUB_API_TOKEN",
        ],
        &[
            "router.huggingface.co",
            "api-inference.huggingface.co",
            ".endpoints.huggingface.cloud",
        ],
    ),
    (
        &[
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_BEARER_TOKEN_BEDROCK",
            "AZURE_CLIENT_SECRET",
            "GITHUB_TOKEN",
            "GH_TOKEN",
            "GITLAB_TOKEN",
            "NPM_TOKEN",
            "CARGO_REGISTRY_TOKEN",
            "PYPI_TOKEN",
            "SLACK_TOKEN",
            "SLACK_BOT_TOKEN",
            "STRIPE_SECRET_KEY",
            "STRIPE_API_KEY",
            "DATABASE_URL",
            "PGPASSWORD",
            "SSH_AUTH_SOCK",
            "VAULT_TOKEN",
            "KUBECONFIG",
        ],
        &[],
    ),
];

/// A key about to be sent.
pub(super) struct KeyDestination<'a> {
    /// The variable that it is in.
    pub(super) variable: &'a str,
    /// Whether it lies in the `.env` beside the project, whose keys are that project's.
    pub(super) beside_project: bool,
    pub(super) to: &'a Url,
    /// Whether the user's own environment names the address, for keys of this provider.
    pub(super) address_is_users: bool,
    /// The servers that the user's own configuration trusts.
    pub(super) trusted: &'a [String],
    /// Whether the command line lets keys travel unencrypted.
    pub(super) insecure_http: bool,
}

impl KeyDestination<'_> {
    /// Says why the key may not go there, and what to do.
    pub(super) fn check(&self) -> Result<(), String> {
        // Some systems find variables whatever the case of their names.
        let names = |(variables, _): &&(&[&str], &[&str])| {
            let mut variables = variables.iter();
            variables.any(|known| known.eq_ignore_ascii_case(self.variable))
        };
        let Some((_, hosts)) = KNOWN.iter().find(names) else {
            return Ok(());
        };
        let host = self.to.host_str().unwrap_or_default();
        let trusted = || {
            let mut trusted = self.trusted.iter();
            trusted.any(|trusted| trusted.eq_ignore_ascii_case(host))
        };
        if self.beside_project || self.address_is_users || is_loopback(self.to) || trusted() {
            return Ok(());
        }
        let is_vendors = hosts.iter().any(|vendors| match vendors.strip_prefix('.') {
            Some(_) => host.ends_with(vendors),
            None => host == *vendors,
        });
        let (variable, place) = (self.variable, place(self.to));
        if is_vendors && (self.to.scheme() == "https" || self.insecure_http) {
            return Ok(());
        }
        if is_vendors {
            return Err(format!(
                "{variable} is not sent to {place} unencrypted; use https"
            ));
        }
        let only = match hosts {
            [] => "it is no key of a judge".to_owned(),
            hosts => format!("it goes only to {}", shown(hosts)),
        };
        Err(format!(
            "{variable} is not sent to {place}: {only}; put that server's own key into another variable and name it with \
             key_env, or, if you trust {host} with this one, add it to [keys] trusted_hosts in your own configuration \
             (`overrule config default` shows how)"
        ))
    }
}

fn shown(hosts: &[&str]) -> String {
    let shown = hosts.iter().map(|host| match host.strip_prefix('.') {
        Some(_) => format!("*{host}"),
        None => (*host).to_owned(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variable: &str, to: &str) -> Result<(), String> {
        KeyDestination {
            variable,
            beside_project: false,
            to: &Url::parse(to).unwrap(),
            address_is_users: false,
            trusted: &["Gateway.example.com".to_owned()],
            insecure_http: false,
        }
        .check()
    }

    #[test]
    fn a_well_known_key_goes_to_its_vendor_to_this_machine_and_to_whom_the_user_trusts() {
        for (variable, to) in [
            ("OPENAI_API_KEY", "https://api.openai.com/v1"),
            ("OPENAI_API_KEY", "https://eu.api.openai.com/v1"),
            ("OPENAI_API_KEY", "http://127.0.0.1:8000/v1"),
            ("OPENAI_API_KEY", "http://localhost:8000/v1"),
            ("OPENAI_API_KEY", "https://gateway.example.com/v1"),
            ("AZURE_OPENAI_API_KEY", "https://mine.openai.azure.com"),
            ("ANTHROPIC_API_KEY", "https://api.anthropic.com"),
            (
                "GEMINI_API_KEY",
                "https://generativelanguage.googleapis.com",
            ),
            ("MY_KEY", "https://anywhere.example.org/v1"),
        ] {
            assert_eq!(check(variable, to), Ok(()), "{variable} {to}");
        }
    }

    #[test]
    fn it_goes_nowhere_else_and_the_refusal_names_variable_host_and_remedy() {
        for (variable, to) in [
            ("OPENAI_API_KEY", "https://gw.example.com/v1"),
            ("OPENAI_API_KEY", "https://api.openai.com.example.com/v1"),
            ("OPENAI_API_KEY", "https://evilapi.openai.com/v1"),
            ("OPENAI_API_KEY", "https://api.openai.com./v1"),
            ("OPENAI_API_KEY", "https://mine.openai.azure.com"),
            ("OPENAI_API_KEY", "https://api.anthropic.com"),
            ("OPENAI_API_KEY", "https://127.0.0.1.example.com"),
            (
                "AZURE_OPENAI_API_KEY",
                "https://openai.azure.com.example.com",
            ),
            ("ANTHROPIC_API_KEY", "https://api.openai.com/v1"),
            ("AWS_SECRET_ACCESS_KEY", "https://api.openai.com/v1"),
            ("openai_api_key", "https://gw.example.com/v1"),
        ] {
            let why = check(variable, to).unwrap_err();
            let host = Url::parse(to).unwrap();
            let host = host.host_str().unwrap();
            for part in [variable, host, "trusted_hosts", "key_env"] {
                assert!(why.contains(part), "{part:?} in {why:?}");
            }
        }
        let open = check("OPENAI_API_KEY", "http://api.openai.com/v1").unwrap_err();
        assert!(open.contains("use https"), "{open}");
    }
}
