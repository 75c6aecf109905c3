{{- /*
Pod Security "restricted". The image has the user 65534, so none is named: OpenShift gives each namespace users and
groups of its own, and refuses others. Elsewhere a volume needs the group.
*/}}
{{- define "podinit.podSecurityContext" -}}
{{- if .Values.podSecurityContext }}
{{- toYaml .Values.podSecurityContext }}
{{- else -}}
runAsNonRoot: true
seccompProfile:
  type: RuntimeDefault
{{- if or .Values.state.enabled (include "podinit.webConfigured" .) }}
fsGroupChangePolicy: OnRootMismatch
{{- if not (.Capabilities.APIVersions.Has "security.openshift.io/v1") }}
# Lets podinit write its state and read its key.
fsGroup: 65534
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A read-only root, and no right that podinit does not use. */}}
{{- define "podinit.containerSecurityContext" -}}
{{- if .Values.containerSecurityContext }}
{{- toYaml .Values.containerSecurityContext }}
{{- else -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
{{- end }}
