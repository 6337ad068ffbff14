import type { components } from "../generated/Components.ts"

type Operations = components["schemas"]["Operations"]

export type OperationId = keyof Operations

/** Every input of an operation in one object: those of its path, query, header and body. */
export type InputOf<Id extends OperationId> = string extends keyof Operations[Id]["input"]
  ? Readonly<Record<never, never>>
  : Operations[Id]["input"]

/** The `data` of an operation's answer; the bytes of a download. */
export type OutputOf<Id extends OperationId> = unknown extends Operations[Id]["output"]
  ? Uint8Array
  : Operations[Id]["output"]

export interface OperationRow {
  readonly method: "GET" | "POST" | "DELETE"
  /** Contains `{parameter}` for variable parts. */
  readonly path: string
  /** `bootstrap`: the answer contains the access token. Default: the call needs it. */
  readonly authentication?: "bootstrap" | "none" | "sign-in"
  readonly isPaid?: true
  readonly query?: ReadonlyArray<string>
  readonly header?: ReadonlyArray<string>
  readonly isDownload?: true
}
