/** The fields of the Prometheus Operator's resources that our manifests may have: https://prometheus-operator.dev/docs/api-reference/api/ */

type Labels = Readonly<Record<string, string>>

interface Resource<Kind extends string, Spec> {
  readonly apiVersion: "monitoring.coreos.com/v1"
  readonly kind: Kind
  readonly metadata: { readonly name: string; readonly labels: Labels }
  readonly spec: Spec
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Labels
  readonly annotations: Labels
}

export type IPrometheusRule = Resource<
  "PrometheusRule",
  { readonly groups: ReadonlyArray<{ readonly name: string; readonly rules: ReadonlyArray<Rule> }> }
>

interface Endpoint {
  /** The name of a port of the Service. */
  readonly port: string
  readonly path: string
  readonly interval: string
  readonly honorLabels: true
  readonly authorization: { readonly credentials: { readonly name: string; readonly key: string } }
}

export type IServiceMonitor = Resource<
  "ServiceMonitor",
  {
    readonly jobLabel: string
    readonly selector: { readonly matchLabels: Labels }
    readonly endpoints: ReadonlyArray<Endpoint>
  }
>
