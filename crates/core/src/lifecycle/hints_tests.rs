use super::*;

const FIRST: Option<u8> = Some(0);

fn told(cause: Cause, said: &[(Hint, &str)], message: Option<&str>) -> Option<String> {
    let (mut hints, mut budget) = (Hints::default(), MessageBudget::default());
    for (hint, text) in said {
        let container = (!matches!(hint, Hint::PullSecret | Hint::Sync)).then_some(0);
        hints.keep(*hint, container, text, FIRST, &mut budget);
    }
    let waiting = WaitingCause { stage: Stage::Containers, cause, container: FIRST };
    let told = hints.told(waiting, message).map(Cow::into_owned);
    hints.release(&mut budget);
    assert_eq!(budget, MessageBudget::default());
    told
}

fn told_of_claims(stage: Stage, said: &[(Hint, &str)], message: &str) -> Option<String> {
    let (mut hints, mut budget) = (Hints::default(), MessageBudget::default());
    for (hint, text) in said {
        hints.keep(*hint, None, text, None, &mut budget);
    }
    let waiting = WaitingCause { stage, cause: Cause::Volume, container: None };
    let told = hints.told(waiting, Some(message)).map(Cow::into_owned);
    hints.release(&mut budget);
    assert_eq!(budget, MessageBudget::default());
    told
}

#[test]
fn what_is_said_of_claims_is_told_where_it_says_more() {
    const UNBOUND: &str =
        "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.";
    const CONFLICT: &str = "0/3 nodes are available: 3 node(s) had volume node affinity conflict.";
    const MOUNT: &str = "MountVolume.SetUp failed: permission denied";
    const SLOW: &str = "Unable to attach or mount volumes: timed out waiting for the condition";
    let (fails, waits) = ((Hint::Claim, "no quota"), (Hint::Provisioner, "waits for ebs"));
    for (stage, said, message, told) in [
        (Stage::Unschedulable, &[fails][..], UNBOUND, "no quota"),
        (Stage::Unschedulable, &[fails], CONFLICT, "no quota"),
        (Stage::Unschedulable, &[waits], UNBOUND, "waits for ebs"),
        // It has a volume, of another zone.
        (Stage::Unschedulable, &[waits], CONFLICT, CONFLICT),
        (Stage::Network, &[fails], MOUNT, MOUNT),
        (Stage::Network, &[fails], SLOW, "no quota"),
        (Stage::Network, &[waits], SLOW, SLOW),
        // The newest counts, and success takes all back.
        (Stage::Unschedulable, &[fails, waits], UNBOUND, "waits for ebs"),
        (Stage::Unschedulable, &[fails, (Hint::Provisioner, "")], UNBOUND, UNBOUND),
    ] {
        assert_eq!(told_of_claims(stage, said, message).as_deref(), Some(told));
    }
}

const BACK_OFF: &str = "Back-off pulling image \"r.io/a:1\"";
const KILLED: &str = "Container web failed startup probe, will be restarted";
const PROBE_404: &str = "Startup probe failed: HTTP probe failed with statuscode: 404";

#[test]
fn an_event_tells_of_a_pull_where_the_status_only_backs_off() {
    let refused = "Failed to pull image \"r.io/a:1\": denied";
    let pull = (Hint::Pull, refused);
    let back_off = (Hint::Start, "Error: ImagePullBackOff");
    let image = |said: &[_], message| told(Cause::Image, said, message);
    assert_eq!(image(&[pull, back_off], Some(BACK_OFF)).as_deref(), Some(refused));
    let status = "Back-off pulling image \"r.io/a:1\": ErrImagePull: not found";
    assert_eq!(image(&[pull], Some(status)).as_deref(), Some(status));
    assert_eq!(image(&[back_off], None), None);
    let secret = (
        Hint::PullSecret,
        "Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed.",
    );
    assert_eq!(
        image(&[secret, pull], Some(BACK_OFF)).as_deref(),
        Some("denied; unable to retrieve some image pull secrets (regcred)")
    );
    // It says nothing about other causes.
    assert_eq!(told(Cause::Probe, &[secret], None), None);
}

#[test]
fn a_crash_says_which_probe_killed_the_container_or_failed() {
    let (killed, failed) = (
        (Hint::Killed(ProbeKind::Startup), KILLED),
        (Hint::Unhealthy(ProbeKind::Startup), PROBE_404),
    );
    let crash = |said: &[_], ended: &str| {
        let backs_off = format!("back-off 20s restarting failed container=web pod=a_b(c): {ended}");
        told(Cause::Crash, said, Some(&backs_off)).unwrap_or_default()
    };
    let by_signal = "exit code 137, 398 restarts";
    assert_eq!(
        crash(&[failed, killed], by_signal),
        "killed by its startup probe (HTTP probe failed with statuscode: 404), exit code 137, 398 restarts"
    );
    assert_eq!(
        crash(&[killed], by_signal),
        "killed by its startup probe, exit code 137, 398 restarts"
    );
    // A long text leaves room for how it ended.
    let long = "Startup probe failed: Get \"http://10.1.0.7:8080/healthz\": context deadline exceeded (Client.Timeout \
                exceeded while awaiting headers)";
    let said = crash(&[(Hint::Unhealthy(ProbeKind::Startup), long), killed], by_signal);
    assert!(
        said.starts_with("killed by its startup probe (") && said.ends_with(by_signal),
        "{said}"
    );
    assert!(said.len() <= 150, "{said}");
    // Whoever ends by itself was not killed, though the probe failed as well.
    let by_itself = "exit code 1, 3 restarts: no such table: users";
    let both = "exit code 1, 3 restarts: no such table: users; its startup probe failed: HTTP probe failed with statuscode: 404";
    assert_eq!(crash(&[failed], by_itself), both);
    assert_eq!(crash(&[failed, killed], by_itself), both);
    let of_memory = "OOMKilled, exit code 137, 3 restarts";
    assert!(crash(&[failed, killed], of_memory).starts_with(of_memory));
    let readiness = (Hint::Unhealthy(ProbeKind::Readiness), "Readiness probe failed: EOF");
    assert!(crash(&[readiness], by_itself).ends_with("no such table: users"));
}

#[test]
fn a_text_about_another_container_is_not_told() {
    let (mut hints, mut budget) = (Hints::default(), MessageBudget::default());
    let hint = Hint::Unhealthy(ProbeKind::Readiness);
    let mut keep = |container, text, waits_for| {
        hints.keep(hint, Some(container), text, Some(waits_for), &mut budget);
        let told = |container| {
            let waiting = WaitingCause {
                stage: Stage::Containers,
                cause: Cause::Probe,
                container: Some(container),
            };
            hints.told(waiting, None).map(Cow::into_owned)
        };
        (told(0), told(1))
    };
    let said = |text: &str| Some(text.to_owned());
    assert_eq!(keep(1, "one", 0), (None, said("one")));
    assert_eq!(keep(0, "none", 0), (said("none"), None));
    assert_eq!(keep(1, "one", 0), (said("none"), None));
    assert_eq!(keep(1, "one", 1), (None, said("one")));
}

#[test]
fn a_failed_sync_speaks_where_nothing_else_does() {
    let sync = (Hint::Sync, "error determining status: rpc error");
    assert_eq!(told(Cause::Unknown, &[sync], None).as_deref(), Some(sync.1));
    assert_eq!(told(Cause::Unknown, &[sync], Some("other")).as_deref(), Some("other"));
    assert_eq!(told(Cause::Cni, &[sync], None), None);
}
