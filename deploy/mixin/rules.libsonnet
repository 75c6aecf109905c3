// The rules and alerts that `podinit rules` makes of the built-in SLOs.
local text = importstr '../prometheus-rules.yaml';

{
  local config = $._config,
  // Matchers stand in expressions, and with their quotes escaped in the queries of annotations, whose
  // own quotes YAML may escape again.
  local quotes = ['"', @'\"', @'\\\"'],
  local changes = [
    ['job=%spodinit%s' % [quote, quote], 'job=%s%s%s' % [quote, config.job, quote]]
    for quote in quotes
  ] + [
    ['runbook_url: deploy/runbooks.md#', 'runbook_url: %s#' % config.runbookURL],
    ['dashboard_url: /d/', 'dashboard_url: %s/' % config.dashboardURL],
  ],
  local rewritten = std.foldl(function(text, change) std.strReplace(text, change[0], change[1]), changes, text),
  local groups = std.parseYaml(rewritten).groups,
  // The groups with those of their rules that have the key `kind`; no empty groups.
  local of(kind) = [
    group { rules: std.filter(function(rule) std.objectHas(rule, kind), group.rules) }
    for group in groups
    if std.length(std.filter(function(rule) std.objectHas(rule, kind), group.rules)) > 0
  ],
  prometheusRules+:: { groups+: of('record') },
  prometheusAlerts+:: { groups+: of('alert') },
}
