{{- define "cachedhive.fullname" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "cachedhive.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "cachedhive.fullname" .) -}}
{{- end }}

{{- define "cachedhive.selectorLabels" -}}
app.kubernetes.io/name: cachedhive
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "cachedhive.labels" -}}
{{ include "cachedhive.selectorLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "cachedhive.image" -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- end }}

{{- /* Size such as 512MB, 1G or 10Gi, in MiB. */ -}}
{{- define "cachedhive.mebibytes" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- if contains "T" . }}{{ mul $number 1048576 }}{{ else if contains "G" . }}{{ mul $number 1024 }}{{ else }}{{ $number }}{{ end -}}
{{- end }}

{{- /* Size limit of the emptyDir for the RAM tier and the socket, in MiB. */ -}}
{{- define "cachedhive.memoryVolumeMebibytes" -}}
{{- add (include "cachedhive.mebibytes" .Values.worker.ramSize) 256 -}}
{{- end }}

{{- /* Size limit of the emptyDir for the SSD tier with its checkpoints, in MiB. */ -}}
{{- define "cachedhive.ssdVolumeMebibytes" -}}
{{- $size := include "cachedhive.mebibytes" .Values.sidecar.ssdSize | int64 -}}
{{- add $size (div $size 20) 1024 -}}
{{- end }}

{{- define "cachedhive.drains" -}}
{{- if or (eq .Values.drain.mode "always") (and (eq .Values.drain.mode "auto") (eq .Values.form "sidecar")) }}true{{ end -}}
{{- end }}

{{- /* Prefix of the environment variables with the credentials of an origin. */ -}}
{{- define "cachedhive.originVariable" -}}
CACHEDHIVE_ORIGIN_{{ . | upper | replace "-" "_" }}
{{- end }}

{{- /* Properties of an origin, from a list of its name and its values. */ -}}
{{- define "cachedhive.originProperties" -}}
{{- $name := first . -}}
{{- $origin := last . -}}
{{- range $property, $value := $origin.properties }}
{{ $property }}={{ $value }}
{{- end }}
{{- if dig "credentials" "secretName" "" $origin }}
s3.aws-access-key=${ENV:{{ include "cachedhive.originVariable" $name }}_ACCESS_KEY}
s3.aws-secret-key=${ENV:{{ include "cachedhive.originVariable" $name }}_SECRET_KEY}
{{- end }}
{{- end }}

{{- /* Environment variables with the credentials of an origin, from a list of its name and its values. */ -}}
{{- define "cachedhive.originEnvironment" -}}
{{- $name := first . -}}
{{- $credentials := (last .).credentials | default dict -}}
{{- if $credentials.secretName }}
- name: {{ include "cachedhive.originVariable" $name }}_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ $credentials.secretName }}
      key: {{ $credentials.accessKey | default "access-key" }}
- name: {{ include "cachedhive.originVariable" $name }}_SECRET_KEY
  valueFrom:
    secretKeyRef:
      name: {{ $credentials.secretName }}
      key: {{ $credentials.secretKey | default "secret-key" }}
{{- end }}
{{- end }}

{{- define "cachedhive.sharedSecretEnvironment" -}}
- name: CACHEDHIVE_SHARED_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ .Values.sharedSecret.secretName }}
      key: {{ .Values.sharedSecret.key }}
{{- end }}

{{- define "cachedhive.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: ["ALL"]
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- /* A user of its own, and the group of Trino's container. */ -}}
{{- define "cachedhive.workerUser" -}}
runAsUser: 10484
runAsGroup: {{ .Values.trino.group }}
{{- end }}

{{- define "cachedhive.initResources" -}}
requests:
  cpu: 100m
  memory: 64Mi
limits:
  memory: 64Mi
{{- end }}

{{- /* The data of the ConfigMap of the cache workers. */ -}}
{{- define "cachedhive.configuration" -}}
config.properties: |
  cache.worker.port={{ .Values.worker.blockPort }}
  # beside the memory: Trino needs both
  cache.worker.socket-path=/memory/cachedhive/worker.sock
  http-server.http.port={{ .Values.worker.httpPort }}
  internal-communication.shared-secret=${ENV:CACHEDHIVE_SHARED_SECRET}
  # the group of Trino's container, which reads the shared memory and connects to the socket
  cache.worker.socket-group={{ .Values.trino.group }}
  cache.ram.directory=/memory/cachedhive
  cache.ram.max-size={{ .Values.worker.ramSize }}
  {{- if eq .Values.form "sidecar" }}
  cache.ssd.directories=/ssd/cachedhive
  cache.ssd.max-sizes={{ .Values.sidecar.ssdSize }}
  {{- else }}
  {{- $directories := list }}
  {{- $sizes := list }}
  {{- range $index, $disk := .Values.daemonSet.ssd }}
  {{- $directories = append $directories (printf "/ssd/%d" $index) }}
  {{- $sizes = append $sizes $disk.size }}
  {{- end }}
  cache.ssd.directories={{ join "," $directories }}
  cache.ssd.max-sizes={{ join "," $sizes }}
  {{- end }}
  cache.origins-directory=etc/origins
  {{- if .Values.metrics.tokenSecret.secretName }}
  cache.metrics.authentication=REQUIRED
  cache.metrics.bearer-token-file=/metrics-token/cachedhive/token
  {{- end }}
  {{- range $property, $value := .Values.worker.properties }}
  {{ $property }}={{ $value }}
  {{- end }}
jvm.config: |
  -server
  -Xmx{{ .Values.worker.heap }}
  -XX:MaxDirectMemorySize={{ .Values.worker.directMemory }}
  -XX:+UseG1GC
  -XX:+ExitOnOutOfMemoryError
  -XX:-OmitStackTraceInFastThrow
  -Dfile.encoding=UTF-8
  --enable-native-access=ALL-UNNAMED
  --sun-misc-unsafe-memory-access=allow
  -XX:SharedArchiveFile=state/classes.jsa
  -Xlog:cds=off
  -Xlog:aot=off
  -XX:CompileCommand=quiet
  -XX:CompileCommand=CompileThresholdScaling,com.sun.crypto.provider.*::*,0.01
log.properties: |
  {{- range $logger, $level := .Values.worker.logLevels }}
  {{ $logger }}={{ $level }}
  {{- end }}
node.properties: |
  node.environment={{ .Values.worker.environment }}
{{- range $name, $origin := .Values.origins }}
origin-{{ $name }}.properties: |
  {{- include "cachedhive.originProperties" (list $name $origin) | trim | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Changes with the configuration, so that pods with the former one are replaced. */ -}}
{{- define "cachedhive.checksum" -}}
{{ include "cachedhive.configuration" . | sha256sum }}
{{- end }}

{{- define "cachedhive.configurationVolume" -}}
- name: cachedhive-config
  configMap:
    name: {{ include "cachedhive.fullname" . }}-worker
    items:
      - {key: config.properties, path: config.properties}
      - {key: jvm.config, path: jvm.config}
      - {key: log.properties, path: log.properties}
      - {key: node.properties, path: node.properties}
      {{- range $name, $_ := .Values.origins }}
      - {key: origin-{{ $name }}.properties, path: origins/{{ $name }}.properties}
      {{- end }}
{{- end }}

{{- /* Volumes of the token for /metrics. */ -}}
{{- define "cachedhive.tokenVolumes" -}}
{{- with .Values.metrics.tokenSecret }}
{{- if .secretName }}
- name: cachedhive-metrics-secret
  secret:
    secretName: {{ .secretName }}
    items:
      - {key: {{ .key }}, path: token}
- name: cachedhive-metrics-token
  emptyDir:
    medium: Memory
    sizeLimit: 1Mi
{{- end }}
{{- end }}
{{- end }}

{{- /* The cache worker refuses a token that other users can read, and Secrets in volumes belong to root. */ -}}
{{- define "cachedhive.tokenContainer" -}}
{{- if .Values.metrics.tokenSecret.secretName }}
- name: copy-metrics-token
  image: {{ include "cachedhive.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: ["install", "-D", "--mode=0400", "/metrics-secret/token", "/metrics-token/cachedhive/token"]
  resources:
    {{- include "cachedhive.initResources" . | nindent 4 }}
  securityContext:
    {{- include "cachedhive.workerUser" . | nindent 4 }}
    {{- include "cachedhive.containerSecurityContext" . | nindent 4 }}
  volumeMounts:
    - name: cachedhive-metrics-secret
      mountPath: /metrics-secret
      readOnly: true
    - name: cachedhive-metrics-token
      mountPath: /metrics-token
{{- end }}
{{- end }}

{{- /* The container of the cache worker in both forms. */ -}}
{{- define "cachedhive.workerContainer" -}}
{{- $node := eq .Values.form "daemonSet" -}}
- name: cache-worker
  image: {{ include "cachedhive.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args:
    - run
    - --etc-dir
    - /etc/cachedhive
    - --data-dir
    - /var/lib/cachedhive
    - -Dnode.internal-address=$(WORKER_IP)
    - -Dnode.bind-ip=$(WORKER_IP)
  env:
    - name: WORKER_IP
      valueFrom:
        fieldRef:
          fieldPath: {{ $node | ternary "status.hostIP" "status.podIP" }}
    {{- include "cachedhive.sharedSecretEnvironment" . | nindent 4 }}
    {{- range $name, $origin := .Values.origins }}
    {{- with include "cachedhive.originEnvironment" (list $name $origin) | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- range .Values.worker.secretEnvironment }}
    - name: {{ .name }}
      valueFrom:
        secretKeyRef:
          name: {{ .secretName }}
          key: {{ .key }}
    {{- end }}
  ports:
    - name: cache-blocks
      containerPort: {{ .Values.worker.blockPort }}
      {{- if $node }}
      hostPort: {{ .Values.worker.blockPort }}
      {{- end }}
    - name: cache-http
      containerPort: {{ .Values.worker.httpPort }}
      {{- if $node }}
      hostPort: {{ .Values.worker.httpPort }}
      {{- end }}
  {{- if $node }}
  # ten minutes, in which slow disks allocate the SSD tier
  startupProbe:
    httpGet:
      path: /v1/health
      port: cache-http
    periodSeconds: 5
    failureThreshold: 120
  # a rolling update continues when the cache worker serves
  readinessProbe:
    httpGet:
      path: /v1/health
      port: cache-http
    periodSeconds: 5
  {{- end }}
  # A draining cache worker is alive, so this is not /v1/health. Queries read from the object store meanwhile.
  livenessProbe:
    tcpSocket:
      port: cache-blocks
    {{- if not $node }}
    initialDelaySeconds: 60
    {{- end }}
    periodSeconds: 20
    timeoutSeconds: 5
    failureThreshold: 6
  {{- if include "cachedhive.drains" . }}
  lifecycle:
    preStop:
      exec:
        # in a shell, because Kubernetes does not replace variables in hooks
        command:
          - sh
          - -c
          - >-
            exec /opt/cachedhive/worker/bin/cache-worker drain --etc-dir /etc/cachedhive
            --address "$WORKER_IP" --deadline {{ .Values.drain.deadlineSeconds }}s
  {{- end }}
  resources:
    requests:
      cpu: {{ .Values.resources.cpu | quote }}
      memory: {{ .Values.resources.memory }}
      {{- if $node }}
      ephemeral-storage: {{ .Values.resources.ephemeralStorage }}
      {{- else }}
      # the SSD tier, logs and temporary files
      ephemeral-storage: {{ add (include "cachedhive.ssdVolumeMebibytes" .) (include "cachedhive.mebibytes" .Values.resources.ephemeralStorage) }}Mi
      {{- end }}
    limits:
      # RAM tier {{ .Values.worker.ramSize }} + heap {{ .Values.worker.heap }} + direct memory {{ .Values.worker.directMemory }} + the JVM itself 512 MiB
      memory: {{ .Values.resources.memory }}
      {{- if $node }}
      ephemeral-storage: {{ .Values.resources.ephemeralStorage }}
      {{- end }}
  securityContext:
    {{- if not $node }}
    {{- include "cachedhive.workerUser" . | nindent 4 }}
    {{- end }}
    {{- include "cachedhive.containerSecurityContext" . | nindent 4 }}
  volumeMounts:
    - name: cachedhive-memory
      mountPath: {{ $node | ternary "/memory/cachedhive" "/memory" }}
    {{- if $node }}
    {{- range $index, $_ := .Values.daemonSet.ssd }}
    - name: cachedhive-ssd-{{ $index }}
      mountPath: /ssd/{{ $index }}
    {{- end }}
    {{- else }}
    - name: cachedhive-ssd
      mountPath: /ssd
    {{- end }}
    - name: cachedhive-data
      mountPath: /var/lib/cachedhive
    - name: cachedhive-tmp
      mountPath: /tmp
    {{- if .Values.metrics.tokenSecret.secretName }}
    - name: cachedhive-metrics-token
      mountPath: /metrics-token
      readOnly: true
    {{- end }}
    - name: cachedhive-config
      mountPath: /etc/cachedhive
      readOnly: true
{{- end }}

{{- /* Fails with a message if the values contradict each other. */ -}}
{{- define "cachedhive.validate" -}}
{{- if not .Values.image.digest -}}
{{- fail "image.digest is missing: build and push an image with etc/kubernetes/Dockerfile, and set image.digest to the digest that the push prints" -}}
{{- end -}}
{{- if not .Values.trino.digest -}}
{{- fail "trino.digest is missing: set it to the digest of the image trinodb/trino:483" -}}
{{- end -}}
{{- $needed := add (include "cachedhive.mebibytes" .Values.worker.ramSize) (include "cachedhive.mebibytes" .Values.worker.heap) (include "cachedhive.mebibytes" .Values.worker.directMemory) 512 -}}
{{- $limit := include "cachedhive.mebibytes" .Values.resources.memory | int64 -}}
{{- if gt $needed $limit -}}
{{- fail (printf "resources.memory is %s, and the cache worker needs %dMi (worker.ramSize %s + worker.heap %s + worker.directMemory %s + 512Mi): raise resources.memory, or lower worker.ramSize" .Values.resources.memory $needed .Values.worker.ramSize .Values.worker.heap .Values.worker.directMemory) -}}
{{- end -}}
{{- if and (include "cachedhive.drains" .) (gt (add (int64 .Values.drain.deadlineSeconds) 10) (int64 .Values.terminationGracePeriodSeconds)) -}}
{{- fail (printf "drain.deadlineSeconds is %d, and terminationGracePeriodSeconds is %d: set terminationGracePeriodSeconds to at least %d, because the cache worker writes its checkpoint after the drain" (int64 .Values.drain.deadlineSeconds) (int64 .Values.terminationGracePeriodSeconds) (add (int64 .Values.drain.deadlineSeconds) 10)) -}}
{{- end -}}
{{- if eq (int64 .Values.worker.blockPort) (int64 .Values.worker.httpPort) -}}
{{- fail (printf "worker.blockPort and worker.httpPort are both %d: set two different ports" (int64 .Values.worker.blockPort)) -}}
{{- end -}}
{{- $own := list "cache.worker.port" "cache.worker.socket-path" "cache.worker.socket-group" "http-server.http.port" "internal-communication.shared-secret" "cache.ram.directory" "cache.ram.max-size" "cache.ssd.directories" "cache.ssd.max-sizes" "cache.origins-directory" "cache.metrics.authentication" "cache.metrics.bearer-token-file" -}}
{{- range $property, $_ := .Values.worker.properties -}}
{{- if has $property $own -}}
{{- fail (printf "worker.properties has %s, which the chart sets itself: use the value of the chart for it" $property) -}}
{{- end -}}
{{- end -}}
{{- include "cachedhive.refuseSecrets" (list "worker.properties" .Values.worker.properties) -}}
{{- include "cachedhive.refuseSecrets" (list "trino.catalogProperties" .Values.trino.catalogProperties) -}}
{{- range $name, $origin := .Values.origins -}}
{{- include "cachedhive.refuseSecrets" (list (printf "origins.%s.properties" $name) $origin.properties) -}}
{{- end -}}
{{- end }}

{{- /* Fails if a property that is a secret has its value in the values. From a list of the name of the map, and the map. */ -}}
{{- define "cachedhive.refuseSecrets" -}}
{{- $map := first . -}}
{{- range $property, $value := last . -}}
{{- if and (regexMatch "(password|secret|secret-key|access-key|credential|token|keystore[.]key|truststore[.]key)$" $property) (not (regexMatch "^[$][{]ENV:[A-Za-z_][A-Za-z0-9_]*[}]$" (toString $value))) -}}
{{- fail (printf "%s has the value of %s, which is a secret: put it into a Secret, name that in worker.secretEnvironment or origins, and write ${ENV:NAME} here" $map $property) -}}
{{- end -}}
{{- end -}}
{{- end }}
