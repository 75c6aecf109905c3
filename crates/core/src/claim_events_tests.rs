#![allow(clippy::unwrap_used)]

use super::*;

fn pod(name: &str, claims: &[&str]) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), "shop", name);
    let claims: Arc<[Arc<str>]> = claims.iter().map(|claim| Arc::from(*claim)).collect();
    pod.claim_names = Some(claims).filter(|claims| !claims.is_empty());
    pod
}

fn event(namespace: &str, claim: &str, said: ClaimWord, text: &str) -> KubeEvent {
    let claim = VolumeClaim { namespace: namespace.into(), name: claim.into() };
    KubeEvent {
        pod: None,
        from_kubelet: false,
        container: None,
        first: None,
        named: None,
        occurred: EventOccurrence::default(),
        reason: EventReason::OfClaim { claim, said },
        message: Some(text.into()),
    }
}

/// Each as `POD TEXT`.
fn told(events: impl IntoIterator<Item = KubeEvent>) -> Vec<String> {
    let told = events.into_iter().map(|event| {
        assert!(event.hint().is_some());
        format!("{} {}", event.pod.unwrap().name, event.message.unwrap())
    });
    told.collect()
}

const PROVISIONER: &str = "Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com' or \
                           manually by the system administrator.";

#[test]
fn each_pod_with_the_claim_hears_of_it() {
    let mut claims = ClaimEvents::default();
    assert!(
        claims.pods(&[pod("a", &["data"]), pod("b", &["data", "logs"]), pod("c", &[])]).is_empty()
    );
    let fails = event("shop", "data", ClaimWord::Fails, "no quota");
    assert_eq!(told(claims.event(&fails)), ["a no quota", "b no quota"]);
    // The same name in another namespace is another claim.
    let other = event("other", "data", ClaimWord::Fails, "no quota");
    assert!(claims.event(&other).is_empty());
    // A pod that comes later, and one that is ready.
    assert_eq!(told(claims.pod(&pod("d", &["data"]))), ["d no quota"]);
    claims.pod(&pod("a", &[]));
    claims.forget(PodUid::from_text("b"));
    assert_eq!(told(claims.event(&fails)), ["d no quota"]);
}

#[test]
fn a_warning_comes_before_a_provisioner_and_success_ends_both() {
    let mut claims = ClaimEvents::default();
    claims.pod(&pod("a", &["data", "logs"]));
    let mut says = |claim, said, text| told(claims.event(&event("shop", claim, said, text)));
    let waits = "a waits for the provisioner ebs.csi.aws.com";
    assert_eq!(says("data", ClaimWord::Waits, PROVISIONER), [waits]);
    assert_eq!(says("logs", ClaimWord::Fails, "no quota"), ["a no quota"]);
    assert_eq!(says("data", ClaimWord::Waits, PROVISIONER), ["a no quota"]);
    assert_eq!(says("logs", ClaimWord::Succeeds, ""), [waits]);
    assert_eq!(says("data", ClaimWord::Succeeds, ""), ["a "]);
}

#[test]
fn what_is_kept_is_bounded() {
    let mut claims = ClaimEvents::default();
    let said =
        |number: usize, text: &str| event("shop", &number.to_string(), ClaimWord::Fails, text);
    for number in 0..3 * MOST_CLAIMS {
        claims.event(&said(number, "no quota"));
        assert!(claims.said.len() <= 2 * MOST_CLAIMS);
    }
    let newest = 3 * MOST_CLAIMS - 1;
    claims.event(&said(newest, &"no quota ".repeat(100)));
    let newest = newest.to_string();
    assert_eq!(told(claims.pod(&pod("a", &["0"]))), Vec::<String>::new());
    let text = told(claims.pod(&pod("b", &[&newest]))).pop().unwrap();
    assert!(text.starts_with("b no quota") && text.len() <= MOST_BYTES + 2, "{text}");
}

#[test]
fn the_provisioner_is_what_the_message_quotes() {
    for (message, said) in [
        (PROVISIONER, "waits for the provisioner ebs.csi.aws.com"),
        (
            "waiting for a volume to be created, either by external provisioner \"nfs\" or manually created",
            "waits for the provisioner nfs",
        ),
        ("It can't wait for it's volume", "It can't wait for it's volume"),
        ("waits", "waits"),
    ] {
        assert_eq!(waits_for(message), said);
    }
}
