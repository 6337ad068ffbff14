/** A server beside others of an attack. */
export interface RigServer {
  /** URL of the module of the server. */
  readonly module: string
  /** In place of the variables that the sandbox sets. */
  readonly variables: Readonly<Record<string, string>>
  /** Endpoints of tenants on this machine, in addition to that of the sandbox. */
  readonly endpoints: ReadonlyArray<{ readonly host: string; readonly port: number; readonly caFile: string }>
}

const ALLOWED = "AGENTOS_AGENT_WEBHOOK_ALLOW"

const { endpoints, module, variables } = JSON.parse(process.env["AGENTOS_SANDBOX_RIG_SERVER"] ?? "") as RigServer
const others = JSON.parse(process.env[ALLOWED] ?? "[]") as RigServer["endpoints"]
Object.assign(process.env, variables, { [ALLOWED]: JSON.stringify([...others, ...endpoints]) })
await import(module)
