{
  _config+:: {
    // The label `job` of the exporter in Prometheus.
    job: 'podinit',
    // Where the runbooks are; `#ANCHOR` is put behind it.
    runbookURL: 'deploy/runbooks.md',
    // Where Grafana has its dashboards; `/UID` is put behind it.
    dashboardURL: '/d',
    // Tags that every dashboard gets besides its own.
    dashboardTags: [],
  },
}
