//! Whether pods may be listed and watched (SelfSubjectAccessReview, for each verb and namespace).
//! And which user the API server takes podinit for.

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};

use super::api::DoctorApi;
use super::names::FirstNames;
use super::report::{Check, Finding};
use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};
use podinit_kube::watch::requests::PodScope;

/// A verb that podinit needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApiVerb {
    List,
    Watch,
}

impl ApiVerb {
    const ALL: [Self; 2] = [Self::List, Self::Watch];

    const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Watch => "watch",
        }
    }
}

/// What the API server denies. What cannot be reviewed counts as granted: the attempt will show.
#[derive(Debug, Default)]
pub(super) struct DeniedAccess(Vec<(PodScope, ApiVerb)>);

impl DeniedAccess {
    pub(super) fn covers(&self, scope: &PodScope, verb: ApiVerb) -> bool {
        self.0.contains(&(scope.clone(), verb))
    }
}

/// Reviews every right that watching `scopes` takes, and the rights to review bearer tokens if
/// `tokens`.
pub(super) async fn review(
    api: &DoctorApi,
    scopes: &[PodScope],
    tokens: bool,
    identity: &ApiIdentity,
) -> (Vec<Finding>, DeniedAccess) {
    const CHECK: Check = Check::Permissions;
    let mut findings = Vec::new();
    let mut denied = DeniedAccess::default();
    for scope in scopes {
        let mut missing = Vec::new();
        let mut reason = String::new();
        for verb in ApiVerb::ALL {
            match may(api, scope_name(scope), "", "pods", verb.as_str()).await {
                Ok(ReviewAnswer::Allowed) => {}
                Ok(ReviewAnswer::Denied(why)) => {
                    reason = why;
                    missing.push(verb.as_str());
                    denied.0.push((scope.clone(), verb));
                }
                Err(failure) => {
                    let why = format!(
                        "permissions cannot be asked for ({}); the next checks will show them",
                        failure.detail
                    );
                    findings.push(Finding::skipped(CHECK, why));
                    return (findings, denied);
                }
            }
        }
        if !missing.is_empty() {
            let reason = if reason.is_empty() { reason } else { format!(" ({reason})") };
            let found = format!("may not {} {scope}{reason}", missing.join(" and "));
            findings.push(
                Finding::error(CHECK, found)
                    .fix(grant(scope, identity))
                    .detail("verbs", missing)
                    .detail("namespace", scope_name(scope)),
            );
        }
    }
    if tokens {
        findings.extend(reviews(api, identity).await);
    }
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, format!("may list and watch {}", in_words(scopes))));
    }
    // A note, and only where the API server clearly says so.
    if let Ok(ReviewAnswer::Allowed) = may(api, "", "*", "*", "*").await {
        let found = "this identity may do anything in the cluster";
        findings.push(Finding::note(CHECK, found).fix(
            "run podinit as a service account that may only list and watch pods \
             (deploy/base/rbac.yaml)",
        ));
    }
    (findings, denied)
}

/// `--evidence events` needs the right to list and watch Events where pods are watched, and `--evidence nodes`
/// that to list and watch nodes. Without it `serve` goes on, so it is a warning.
pub(super) async fn evidence(
    api: &DoctorApi,
    (what, resource): (&str, &str),
    scopes: &[PodScope],
    identity: &ApiIdentity,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for scope in scopes {
        let mut missing = Vec::new();
        for verb in ApiVerb::ALL {
            let answer = may(api, scope_name(scope), "", resource, verb.as_str()).await;
            if let Ok(ReviewAnswer::Denied(_)) = answer {
                missing.push(verb.as_str());
            }
        }
        if missing.is_empty() {
            continue;
        }
        let verbs = missing.join(" and ");
        let of_scope = match resource {
            "nodes" => String::new(),
            _ => format!(" of {scope}"),
        };
        let found = format!("may not {verbs} {what}{of_scope}, which --evidence {resource} needs");
        let finding = Finding::warning(Check::Permissions, found)
            .fix(grant_to(resource, &format!("podinit-{resource}"), scope, identity))
            .detail("verbs", missing)
            .detail("namespace", scope_name(scope));
        findings.push(finding);
    }
    findings
}

/// `--auth kubernetes` needs the right to have clients' tokens and rights reviewed.
async fn reviews(api: &DoctorApi, identity: &ApiIdentity) -> Option<Finding> {
    let mut missing = Vec::new();
    for (group, resource) in [
        ("authentication.k8s.io", "tokenreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
    ] {
        if let Ok(ReviewAnswer::Denied(_)) = may(api, "", group, resource, "create").await {
            missing.push(resource);
        }
    }
    if missing.is_empty() {
        return None;
    }
    let found = format!("may not create {}, which --auth kubernetes needs", missing.join(" and "));
    let subject = subject_of(identity);
    let fix = format!(
        "kubectl create clusterrolebinding podinit-auth --clusterrole=system:auth-delegator {subject}"
    );
    Some(Finding::error(Check::Permissions, found).fix(fix))
}

enum ReviewAnswer {
    Allowed,
    /// With the API server's reason, which may be empty
    Denied(String),
}

async fn may(
    api: &DoctorApi,
    namespace: &str,
    group: &str,
    resource: &str,
    verb: &str,
) -> Result<ReviewAnswer, ApiError> {
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                namespace: Some(namespace.to_owned()),
                verb: Some(verb.to_owned()),
                group: Some(group.to_owned()),
                resource: Some(resource.to_owned()),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let answer = api.review(&review).await?;
    let status = answer.status.unwrap_or_default();
    if status.allowed {
        return Ok(ReviewAnswer::Allowed);
    }
    let reasons = [status.evaluation_error, status.reason].into_iter().flatten();
    let reason = reasons.into_iter().find(|text| !text.is_empty());
    Ok(ReviewAnswer::Denied(reason.unwrap_or_default()))
}

/// The namespace of a review; empty for all namespaces.
fn scope_name(scope: &PodScope) -> &str {
    match scope {
        PodScope::Cluster => "",
        PodScope::Namespace(name) => name,
    }
}

fn in_words(scopes: &[PodScope]) -> String {
    match scopes {
        [scope] => scope.to_string(),
        _ => {
            let names: FirstNames = scopes.iter().map(scope_name).collect();
            format!("pods of {} namespaces ({names})", scopes.len())
        }
    }
}

/// The commands that grant what is missing.
fn grant(scope: &PodScope, identity: &ApiIdentity) -> String {
    let commands = grant_to("pods", "podinit", scope, identity);
    match scope {
        PodScope::Cluster => {
            format!("{commands}; or watch only some namespaces, with --namespace")
        }
        PodScope::Namespace(_) => commands,
    }
}

/// The commands that make the role `role`, with the right to list and watch a resource, and bind it.
fn grant_to(resource: &str, role: &str, scope: &PodScope, identity: &ApiIdentity) -> String {
    let subject = subject_of(identity);
    match scope {
        PodScope::Cluster => format!(
            "kubectl create clusterrole {role} --verb=list,watch --resource={resource} && \
             kubectl create clusterrolebinding {role} --clusterrole={role} {subject}"
        ),
        PodScope::Namespace(name) if is_plain(name) => format!(
            "kubectl -n {name} create role {role} --verb=list,watch --resource={resource} && \
             kubectl -n {name} create rolebinding {role} --role={role} {subject}"
        ),
        PodScope::Namespace(_) => "check --namespace: no namespace has such a name".to_owned(),
    }
}

/// The flag of `kubectl` for the subject of a binding.
fn subject_of(identity: &ApiIdentity) -> String {
    let subject = match identity {
        ApiIdentity::Known(name) => subject(name),
        ApiIdentity::Unknown | ApiIdentity::Rejected => None,
    };
    subject.unwrap_or_else(|| "--serviceaccount=NAMESPACE:NAME".to_owned())
}

/// The flag for this user, where the name needs no quoting in a shell.
fn subject(name: &str) -> Option<String> {
    if !is_plain(name) {
        return None;
    }
    Some(match name.strip_prefix("system:serviceaccount:") {
        Some(account) => format!("--serviceaccount={account}"),
        None => format!("--user={name}"),
    })
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._:@".contains(c);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(plain)
}

/// Who we are to the API server.
pub(super) enum ApiIdentity {
    /// This user
    Known(String),
    /// It does not say
    Unknown,
    /// It does not accept our credentials: further requests are useless
    Rejected,
}

/// Requests who podinit is (SelfSubjectReview, Kubernetes 1.28).
pub(super) async fn identify(api: &DoctorApi) -> (Finding, ApiIdentity) {
    const CHECK: Check = Check::Identity;
    let answer = match api.review(&SelfSubjectReview::default()).await {
        Ok(answer) => answer,
        Err(failure) if failure.kind == ApiErrorKind::Unauthorized => {
            let found = format!("the credentials are not accepted: {}", failure.detail);
            let fix = "log in again, or have the token or certificate of the kubeconfig renewed";
            return (Finding::error(CHECK, found).fix(fix), ApiIdentity::Rejected);
        }
        Err(failure) => {
            let why = format!("the API server does not say who podinit is: {}", failure.detail);
            return (Finding::skipped(CHECK, why), ApiIdentity::Unknown);
        }
    };
    let user = answer.status.and_then(|status| status.user_info);
    match user.and_then(|user| user.username).as_deref() {
        Some(name @ "system:anonymous") => {
            let found = "the API server takes podinit for nobody (system:anonymous)";
            let fix = "give the context a user with credentials, or podinit a service account";
            let finding = Finding::warning(CHECK, found).fix(fix);
            (finding.detail("username", name), ApiIdentity::Known(name.to_owned()))
        }
        Some(name) => {
            let finding = Finding::ok(CHECK, name).detail("username", name);
            (finding, ApiIdentity::Known(name.to_owned()))
        }
        None => {
            let why = "the API server does not say who podinit is";
            (Finding::skipped(CHECK, why), ApiIdentity::Unknown)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> ApiIdentity {
        ApiIdentity::Known(name.to_owned())
    }

    #[test]
    fn the_commands_name_the_subject_and_the_right() {
        let account = known("system:serviceaccount:monitoring:podinit");
        let cluster = grant(&PodScope::Cluster, &account);
        assert!(cluster.contains("clusterrolebinding"), "{cluster}");
        assert!(cluster.contains("--serviceaccount=monitoring:podinit"), "{cluster}");
        let shop = grant(&PodScope::Namespace("shop".to_owned()), &known("jane@example.com"));
        assert!(shop.contains("kubectl -n shop create role podinit"), "{shop}");
        assert!(shop.ends_with("--user=jane@example.com"), "{shop}");
    }

    #[test]
    fn nothing_with_a_meaning_to_a_shell_becomes_part_of_a_command() {
        let odd = grant(&PodScope::Cluster, &known("jane; rm -rf ~"));
        assert!(odd.contains("--serviceaccount=NAMESPACE:NAME"), "{odd}");
        let odd = grant(&PodScope::Namespace("$(x)".to_owned()), &known("jane"));
        assert!(!odd.contains('$'), "{odd}");
    }
}
