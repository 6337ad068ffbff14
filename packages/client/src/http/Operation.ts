import { AgentOsError } from "../AgentOsError.ts"
import { OPERATIONS } from "../generated/OperationTable.ts"
import type { Request } from "./Http.ts"
import type { OperationId, OperationRow } from "./OperationTypes.ts"

/** Returns the row of an operation. Throws INVALID_OPTION for a name without an operation. */
export const rowOf = (id: OperationId): OperationRow => {
  if (Object.hasOwn(OPERATIONS, id)) return OPERATIONS[id]
  throw new AgentOsError({
    code: "INVALID_OPTION",
    message: `There is no operation ${JSON.stringify(id)}. Use an operationId of the OpenAPI document.`
  })
}

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

/** Puts each input where the operation takes it. Throws INVALID_OPTION if one of the path is missing. */
export const requestOf = (row: OperationRow, input: Readonly<Record<string, unknown>>): Request => {
  const body: Record<string, unknown> = { ...input }
  const take = (name: string): unknown => {
    const value = body[name]
    delete body[name]
    return value
  }
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = take(name)
    if (value !== undefined && value !== "") return encodeURIComponent(textOf(value))
    throw new AgentOsError({ code: "INVALID_OPTION", message: `${name} is missing.` })
  })
  const named = (names: ReadonlyArray<string> = []): Record<string, string> =>
    Object.fromEntries(
      names
        .map((name) => [name, take(name)] as const)
        .flatMap(([name, value]) => (value === undefined ? [] : [[name, textOf(value)]]))
    )
  const query = new URLSearchParams(named(row.query)).toString()
  const headers = named(row.header)
  return {
    method: row.method,
    path: query === "" ? path : `${path}?${query}`,
    headers,
    ...(row.method === "POST" && Object.keys(body).length > 0 ? { body: JSON.stringify(body) } : {}),
    ...(row.isDownload === true ? { isDownload: true } : {})
  }
}
