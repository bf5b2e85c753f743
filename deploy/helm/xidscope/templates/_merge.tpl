{{/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */}}
{{/* Merges the patch (second) into the object (first), as kustomize does: maps by their keys, containers and volumes by their
     names, null removes. What it prints is empty. */}}
{{- define "xidscope.merge" }}
{{- $object := index . 0 }}
{{- range $key, $value := index . 1 }}
  {{- $old := get $object $key }}
  {{- if kindIs "invalid" $value }}
    {{- $_ := unset $object $key }}
  {{- else if and (kindIs "map" $value) (kindIs "map" $old) }}
    {{- include "xidscope.merge" (list $old $value) }}
  {{- else if and (has $key (list "containers" "volumes")) $old }}
    {{- $list := $old }}
    {{- range $new := $value }}
      {{- $found := false }}
      {{- range $old }}
        {{- if eq .name $new.name }}
          {{- $found = true }}
          {{- include "xidscope.merge" (list . $new) }}
        {{- end }}
      {{- end }}
      {{- if not $found }}
        {{- $list = append $list $new }}
      {{- end }}
    {{- end }}
    {{- $_ := set $object $key $list }}
  {{- else }}
    {{- $_ := set $object $key $value }}
  {{- end }}
{{- end }}
{{- end }}
