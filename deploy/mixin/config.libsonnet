{
  _config+:: {
    // The label `job` of the exporter in Prometheus.
    job: 'podinit',
    // Where the runbooks are; `#ANCHOR` is appended. Without it alerts link to those of pageURL.
    runbookURL: null,
    // Where Grafana has its dashboards, such as https://grafana.example/d; `/UID` is appended.
    dashboardURL: null,
    // Where the exporter can be reached, for links to its live page.
    pageURL: null,
    // Tags that every dashboard gets besides its own.
    dashboardTags: [],
  },
}
