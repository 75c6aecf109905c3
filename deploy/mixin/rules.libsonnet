// The rules and alerts that `podinit rules` makes of the built-in SLOs, with placeholders for the links. deploy/generate
// writes the file.
local text = importstr 'prometheus-rules.yaml';

{
  local config = $._config,
  // Matchers stand in expressions, and with their quotes escaped in the queries of annotations, whose
  // own quotes YAML may escape again.
  local quotes = ['"', @'\"', @'\\\"'],
  local changes = [
    ['job=%spodinit%s' % [quote, quote], 'job=%s%s%s' % [quote, config.job, quote]]
    for quote in quotes
  ] + [
    [place, url]
    for place in std.objectFields(links)
    for url in [links[place]]
    if url != null
  ],
  local rewritten = std.foldl(function(text, change) std.strReplace(text, change[0], change[1]), changes, text),
  // An annotation that links to what has no address is left out.
  local links = { RUNBOOK_URL: config.runbookURL, DASHBOARD_URL: config.dashboardURL, PAGE_URL: config.pageURL },
  local leads(annotation) = std.all([
    links[place] != null || std.length(std.findSubstr(place, annotation)) == 0
    for place in std.objectFields(links)
  ]),
  // The exporter has the runbooks too: each is a page of its own.
  local page_of(rule) = { runbook_url: rule.alert, cause_runbook_url: '{{ $labels.cause }}' },
  local on_page(rule) = if config.runbookURL == null && config.pageURL != null then {
    [key]: std.rstripChars(config.pageURL, '/') + '/runbooks/' + page_of(rule)[key]
    for key in ['cause_runbook_url', 'runbook_url']
    if std.objectHas(rule.annotations, key)
  } else {},
  local linked(rule) = if std.objectHas(rule, 'annotations') then rule {
    annotations: { [key]: rule.annotations[key] for key in std.objectFields(rule.annotations) if leads(rule.annotations[key]) }
                 + on_page(rule),
  } else rule,
  local groups = [
    group { rules: [linked(rule) for rule in group.rules] }
    for group in std.parseYaml(rewritten).groups
  ],
  // The groups with those of their rules that have the key `kind`; no empty groups.
  local of(kind) = [
    group { rules: std.filter(function(rule) std.objectHas(rule, kind), group.rules) }
    for group in groups
    if std.length(std.filter(function(rule) std.objectHas(rule, kind), group.rules)) > 0
  ],
  prometheusRules+:: { groups+: of('record') },
  prometheusAlerts+:: { groups+: of('alert') },
}
