"""What may return nothing, each with the reason. An entry that matches no expression is an error."""

# Patterns over "dashboard: panel / query [setting]" or "rule: name [type]".
ALLOWED = [
    (r"^.*: variable cluster ",
     "the label cluster is optional; this Prometheus does not add it"),
    (r"^rule: PodinitSLO",
     "an alert: returns series only while an SLO is missed, or is not the exporter's"),
    (r"^rule: PodinitPods(Stuck|StillStuck)",
     "an alert: returns series only while a pod is stuck, for minutes or more of real time"),
    (r"^rule: job:podinit_shards:unsettled",
     "a series only until all shards have been in sync for two minutes"),
    (r"^rule: (job_stage_cause|job_stage):podinit_stuck_pods:min1d",
     "the least within a day needs data from before that day"),
    (r"^selector: of PodinitPods(Stuck|StillStuck): .*\"(job_stage_cause|job_stage):podinit_stuck_pods:min1d\"",
     "the same: alerts count a day without it as 0"),
    (r"^rule: (job_stage_cause|job_stage):podinit_stuck_pods:settled15m",
     "a series only once all shards have been in sync for a quarter of an hour"),
    (r"^stuck-and-failed: (Stuck pods by cause / A|Pods by stage and cause, now / B|Waiting pods by namespace, now / B) ",
     "pods are stuck after minutes of real time"),
    (r"^stuck-and-failed: Pods by problem / A ",
     "a series only while there is a problem: a healthy demo has none for long"),
    (r"^(drill-down: Slowest by \$by / B|overview: Created to ready / D) ",
     "the deadline of an SLO on created_to_ready, which the shipped SLOs have none of"),
    (r"^stuck-and-failed: Duration of changes in place, 99th percentile / B ",
     "a demo has no pods of OpenKruise"),
    (r"^rule: Podinit(RegistrySlow|RegistryFailing|StartupSLIHigh) ",
     "an alert: returns series only while a registry or the startup SLI is worse than it should be"),
    (r"^.*: Startup SLI, 99th percentile / B ",
     "the kubelet's own metric: this Prometheus scrapes no kubelet"),
    (r"^rule: Podinit(StartupsRejected|NodesLate|EvidenceDown|Down|ShardMissing|NotSynced|WatchErrors|ClockAnomalies|ConservationBroken|ConfigReloadFailed|"
     r"WebConfigReloadFailed) ",
     "an alert: returns series only while the exporter or its cluster is in trouble"),
    (r"^exporter-health: (Checkpoint (state|size|writes per second)|Starts by checkpoint result) / ",
     "a demo has no state directory, and so no checkpoint"),
    (r"^exporter-health: (Traces (per second|that wait|dropped per second)|Failed exports per second|"
     r"Spans rejected per second) / ",
     "this demo has no collector of traces"),
    (r"^.*: annotation Alerts \[podinit-(classic|native)\]$",
     "alerts exist for the job podinit, for which the rules are written"),
    (r"^.*, exemplars \[podinit-native ",
     "a Prometheus that keeps native histograms alone reads exemplars from the first series of a "
     "family only (seen in 3.x; its parser does not start again with each series)"),
]
