// The Grafana dashboards, as they are in dashboards/.
local dashboards = {
  'podinit-overview.json': import '../../dashboards/overview.json',
  'podinit-stages.json': import '../../dashboards/stages.json',
  'podinit-drill-down.json': import '../../dashboards/drill-down.json',
  'podinit-stuck-and-failed.json': import '../../dashboards/stuck-and-failed.json',
  'podinit-capacity.json': import '../../dashboards/capacity.json',
  'podinit-images-and-sli.json': import '../../dashboards/images-and-sli.json',
  'podinit-exporter-health.json': import '../../dashboards/exporter-health.json',
};

{
  local config = $._config,
  grafanaDashboardFolder:: 'podinit',
  grafanaDashboards+:: {
    [name]: dashboards[name] { tags+: config.dashboardTags }
    for name in std.objectFields(dashboards)
  },
}
