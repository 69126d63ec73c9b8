{{- define "cachedhive.pluginContainer" -}}
- name: copy-cachedhive-plugin
  image: {{ include "cachedhive.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: ["cp", "--recursive", "/opt/cachedhive/plugin/.", "/plugin/"]
  resources:
    requests:
      cpu: 100m
      memory: 64Mi
    limits:
      memory: 512Mi
  securityContext:
    {{- include "cachedhive.containerSecurityContext" . | nindent 4 }}
  volumeMounts:
    - name: cachedhive-plugin
      mountPath: /plugin
{{- end }}

{{- /* Values for the official Trino chart. */ -}}
{{- define "cachedhive.trinoValues" -}}
{{- $sidecar := eq .Values.form "sidecar" -}}
# Lists of values files replace each other: merge your own entries under the same keys into one file.
image:
  # the plugin works with this version only
  tag: "483"
  digest: {{ .Values.trino.digest }}

# its token is not mounted
serviceAccount:
  create: false
  name: {{ include "cachedhive.serviceAccountName" . }}

# The user of Trino's image. The cache worker has a user of its own and the same group.
securityContext:
  runAsUser: {{ .Values.trino.user }}
  runAsGroup: {{ .Values.trino.group }}
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault

containerSecurityContext:
  allowPrivilegeEscalation: false
  runAsNonRoot: true
  capabilities:
    drop: ["ALL"]
  seccompProfile:
    type: RuntimeDefault

# for coordinator and workers
env:
  {{- include "cachedhive.sharedSecretEnvironment" . | nindent 2 }}
  {{- with include "cachedhive.originEnvironment" (list "default" .Values.origins.default) | trim }}
  {{- . | nindent 2 }}
  {{- end }}

catalogs:
  {{ .Values.trino.catalog }}: |
    connector.name=cachedhive
    {{- range $property, $value := .Values.trino.catalogProperties }}
    {{ $property }}={{ $value }}
    {{- end }}
    {{- include "cachedhive.originProperties" (list "default" .Values.origins.default) | trim | nindent 4 }}
    cachedhive.shared-secret=${ENV:CACHEDHIVE_SHARED_SECRET}
    cachedhive.worker.socket-path=/memory/cachedhive/worker.sock
    {{- if ne (int64 .Values.worker.blockPort) 8484 }}
    cachedhive.worker.port={{ .Values.worker.blockPort }}
    {{- end }}

# the plugin is copied out of the image of the cache worker
initContainers:
  coordinator:
    {{- include "cachedhive.pluginContainer" . | nindent 4 }}
  worker:
    {{- include "cachedhive.pluginContainer" . | nindent 4 }}
    {{- if $sidecar }}
    # volumes of the type emptyDir are writable for all users, which the cache worker refuses for its SSD tier
    - name: make-cachedhive-directory
      image: {{ include "cachedhive.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: ["mkdir", "--parents", "--mode=0700", "/ssd/cachedhive"]
      resources:
        {{- include "cachedhive.initResources" . | nindent 8 }}
      securityContext:
        {{- include "cachedhive.workerUser" . | nindent 8 }}
        {{- include "cachedhive.containerSecurityContext" . | nindent 8 }}
      volumeMounts:
        - name: cachedhive-ssd
          mountPath: /ssd
    {{- with include "cachedhive.tokenContainer" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- end }}

coordinator:
  additionalVolumes:
    - name: cachedhive-plugin
      emptyDir: {}
  additionalVolumeMounts:
    - name: cachedhive-plugin
      mountPath: /usr/lib/trino/plugin/cachedhive
      readOnly: true

worker:
  additionalJVMConfig:
    - --enable-native-access=ALL-UNNAMED
    - --sun-misc-unsafe-memory-access=allow
  {{- if $sidecar }}
  # replaces the pods when the configuration of the cache workers changes
  annotations:
    checksum/cachedhive-config: {{ include "cachedhive.checksum" . }}
  # the cache worker transfers its blocks and writes its checkpoint in this time
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- end }}
  additionalVolumes:
    - name: cachedhive-plugin
      emptyDir: {}
    {{- if $sidecar }}
    # The RAM tier and the Unix socket. The contents count as memory of the container that wrote them, the cache worker,
    # whose limit includes them.
    - name: cachedhive-memory
      emptyDir:
        medium: Memory
        sizeLimit: {{ include "cachedhive.memoryVolumeMebibytes" . }}Mi
    # The SSD tier is on the node's disk for emptyDir, and deleted with the pod.
    - name: cachedhive-ssd
      emptyDir:
        sizeLimit: {{ include "cachedhive.ssdVolumeMebibytes" . }}Mi
    - name: cachedhive-data
      emptyDir:
        sizeLimit: 1Gi
    - name: cachedhive-tmp
      emptyDir:
        sizeLimit: 1Gi
    {{- with include "cachedhive.tokenVolumes" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- include "cachedhive.configurationVolume" . | nindent 4 }}
    {{- end }}
  additionalVolumeMounts:
    - name: cachedhive-plugin
      mountPath: /usr/lib/trino/plugin/cachedhive
      readOnly: true
    {{- if $sidecar }}
    - name: cachedhive-memory
      mountPath: /memory
      readOnly: true

sidecarContainers:
  worker:
    {{- include "cachedhive.workerContainer" . | nindent 4 }}
    {{- end }}
{{- end }}
