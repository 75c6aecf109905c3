//! The families of access control, which keeps its counters itself.

use super::exposition::encoder::{Encoder, Head, Number};
use super::families::{
    HTTP_REQUESTS_REFUSED, TLS_HANDSHAKE_FAILURES, WEB_CONFIG_RELOAD_SUCCESSFUL,
    WEB_CONFIG_RELOAD_TIMESTAMP, WEB_CONFIG_RELOADS,
};
use super::source::{FamilySource, by_label, integers, single};
use crate::access::{AccessStats, Refusal};

impl FamilySource for AccessStats {
    fn collect(&self, out: &mut dyn Encoder) {
        let refused = Refusal::ALL.map(|refusal| (refusal.as_str(), self.refused(refusal)));
        by_label(out, &HTTP_REQUESTS_REFUSED, integers(refused));
        single(out, &TLS_HANDSHAKE_FAILURES, self.handshake_failures());
        let reloads = [("success", true), ("failure", false)];
        let reloads = reloads.map(|(result, successful)| (result, self.reloads(successful)));
        by_label(out, &WEB_CONFIG_RELOADS, integers(reloads));
        let status = self.status();
        single(out, &WEB_CONFIG_RELOAD_SUCCESSFUL, status.successful.into());
        out.family(Head::from(&WEB_CONFIG_RELOAD_TIMESTAMP));
        out.number(&[], Number::Float(status.last_success.as_seconds_f64()));
    }
}
