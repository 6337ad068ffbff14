import { type ErrorEnvelope, type ApiOperation, OPERATIONS } from "@agentos/api"
import type { OperationName, Tenant } from "@agentos/core"
import type { Effect } from "effect"
import type { ServerServices } from "../Composition.ts"
import { AgentOsError } from "./AgentOsError.ts"

type Operations = typeof OPERATIONS
/** The input of an operation, as it is written in JSON. */
export type PayloadOf<Name extends OperationName> = Operations[Name]["payload"]["Encoded"]
export type ParamsOf<Name extends OperationName> = Operations[Name]["params"]["Encoded"]
export type QueryOf<Name extends OperationName> = Operations[Name]["query"]["Encoded"]
/** `data` of an operation's answer. */
export type DataOf<Name extends OperationName> = Operations[Name]["data"]["Encoded"]

/** A call of an operation in this process. */
export interface Invocation {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: object
  readonly payload?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly accessToken?: string | undefined
  /** Whose rate limit the call counts toward. */
  readonly client: string
}

/** Runs an effect on the services of one AgentOS. */
export type Run = <A, E>(effect: Effect.Effect<A, E, ServerServices>) => Promise<A>
/** Returns the credentials of a tenant, and the client that its calls are counted to. */
export type AsTenant = (tenant: Tenant) => Promise<Pick<Invocation, "accessToken" | "client">>

/** Answers a request in this process. */
export type Dispatch = (request: Request, client: { readonly remoteAddress: string }) => Promise<Response>

const targetOf = ({ entry }: ApiOperation, { params = {}, query = {} }: Invocation): string => {
  const path = entry.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return `${path}${search.size === 0 ? "" : `?${search.toString()}`}`
}

/**
 * Calls operations through the handler of HTTP requests, without a connection: with the same checks, limits, errors and
 * records in the log as for any client.
 */
export const makeInvoke = (publicUrl: string, dispatch: Dispatch) => {
  /** Returns the response of an operation. Throws `AgentOsError` unless it succeeded. */
  const respond = async (name: OperationName, invocation: Invocation): Promise<Response> => {
    const operation: ApiOperation = OPERATIONS[name]
    const { accessToken, client, headers, payload } = invocation
    const request = new Request(`${publicUrl}${targetOf(operation, invocation)}`, {
      method: operation.entry.method,
      headers: {
        ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
        ...(payload === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(payload === undefined ? {} : { body: JSON.stringify(payload) })
    })
    const response = await dispatch(request, { remoteAddress: client })
    if (response.ok) return response
    const { error } = (await response.json()) as ErrorEnvelope
    throw new AgentOsError(response.status, error, response.headers)
  }
  /** Returns `data` of an operation's answer. */
  const invoke = async <Name extends OperationName>(name: Name, invocation: Invocation): Promise<DataOf<Name>> => {
    const { data } = (await (await respond(name, invocation)).json()) as { readonly data: DataOf<Name> }
    return data
  }
  return { invoke, respond }
}
export type Invoker = ReturnType<typeof makeInvoke>
