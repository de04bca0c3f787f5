//! `overrule allow`: the permissions that `overrule.toml` needs from the user, and the user's
//! answers.

use super::command::{CommandContext, CommandResult, usage};
use super::output::{self, clean};
use crate::domain::permission::PermissionRequest;
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(
    after_help = "An overrule.toml from somebody else could send your keys to their server, or run \
                  a program. Overrule does neither
until you allow it. It asks once for each combination of a variable and a server, and of a folder
and a command. Sending a key to the vendor that issued it or to this machine needs no permission.
Keys that are not set are not listed.

The answers are stored in your own configuration ([permissions] of `overrule config default`);
delete an answer there to be asked again.

Examples:
  overrule allow
  overrule allow --list --json
  overrule allow --yes          without a terminal, after you have read overrule.toml"
)]
pub(super) struct AllowCommand {
    /// Allow everything that is listed, without asking
    #[arg(long, conflicts_with = "list")]
    yes: bool,
    /// List what needs permission, and change nothing
    #[arg(long)]
    list: bool,
    /// Print JSON
    #[arg(long, requires = "list")]
    json: bool,
}

impl AllowCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let requests = context.judges(false).permission_requests()?;
        let consent = &context.consent;
        if self.json {
            let rows = requests.iter().map(|(asked_by, request)| {
                let allowed = consent.answer(request);
                match request {
                    PermissionRequest::Key(key) => json!({
                        "for": asked_by,
                        "variable": key.variable,
                        "server": key.server,
                        "allowed": allowed,
                    }),
                    PermissionRequest::Program(program) => json!({
                        "for": asked_by,
                        "folder": program.folder,
                        "command": program.command,
                        "allowed": allowed,
                    }),
                }
            });
            return output::json(&rows.collect::<Vec<_>>());
        }
        if requests.is_empty() {
            return output::text("nothing in overrule.toml needs your permission\n");
        }
        let open: Vec<_> = requests
            .iter()
            .filter(|(_, request)| consent.answer(request) != Some(true))
            .collect();
        if !self.list {
            if !self.yes && !open.is_empty() && !consent.is_there() {
                output::text(&self.table(context, &requests))?;
                return Err(usage!("nobody can be asked here; --yes allows all of this"));
            }
            for (asked_by, request) in open {
                if self.yes {
                    consent.keep(request, true).map_err(|why| usage!("{why}"))?;
                } else {
                    consent.ask(request, asked_by);
                }
            }
        }
        output::text(&self.table(context, &requests))
    }

    fn table(&self, context: &CommandContext, requests: &[(String, PermissionRequest)]) -> String {
        let rows = requests.iter().map(|(asked_by, request)| {
            let state = match context.consent.answer(request) {
                Some(true) => "allowed",
                Some(false) => "refused",
                None => "not allowed yet",
            };
            vec![state.to_owned(), clean(asked_by), request.to_string()]
        });
        output::table(&["permission", "for", "asks to"], &rows.collect::<Vec<_>>())
    }
}
