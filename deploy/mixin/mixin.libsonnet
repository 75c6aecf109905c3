// podinit's dashboards, rules and alerts as a monitoring mixin (https://monitoring.mixins.dev).
(import 'config.libsonnet') +
(import 'rules.libsonnet') +
(import 'dashboards.libsonnet')
