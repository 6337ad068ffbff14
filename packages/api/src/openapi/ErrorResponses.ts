import type { ErrorCode } from "@agentos/core"
import { errorExample, errorExampleName } from "../error/ErrorExamples.ts"
import { ERROR_RECOVERY } from "../error/ErrorStatus.ts"
import { errorsByStatus } from "../error/OperationErrors.ts"
import type { ApiOperation } from "../operation/ApiOperation.ts"
import { operations } from "../operation/Operations.ts"
import { type JsonObject, schemaRef, toJsonObject } from "../schema/JsonSchema.ts"
import { COMMON_HEADERS, headerRef } from "./Headers.ts"

const RETRY_LATER: ReadonlySet<ErrorCode> = new Set([
  "PAYMENT_PENDING",
  "RATE_LIMITED",
  "PROVIDER_TEMPORARY_FAILURE",
  "SERVICE_UNAVAILABLE"
])

/** `ResourceNotFoundCall` for `RESOURCE_NOT_FOUND_CALL`. */
const pascalOf = (name: string): string =>
  name.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns the name of a response: its examples, and once at the end that they are those of paid operations. */
const responseName = (codes: ReadonlyArray<ErrorCode>, operation: ApiOperation): string => {
  const names = codes.map((code) => errorExampleName(code, operation))
  const suffix = names.every((name) => name.endsWith(PAID)) ? PAID : ""
  return `${names.map((name) => pascalOf(name.slice(0, name.length - suffix.length))).join("Or")}${pascalOf(suffix)}`
}
const PAID = "_PAID"

const responseOf = (status: number, codes: ReadonlyArray<ErrorCode>, operation: ApiOperation): JsonObject => ({
  description: codes.map((code) => `\`${code}\`: ${ERROR_RECOVERY[code]}`).join("\n\n"),
  headers: {
    ...COMMON_HEADERS,
    ...(status === 402 ? { "PAYMENT-REQUIRED": headerRef("PaymentRequired") } : {}),
    ...(codes.some((code) => RETRY_LATER.has(code)) ? { "Retry-After": headerRef("RetryAfter") } : {})
  },
  content: {
    "application/json": {
      schema: schemaRef("Error"),
      examples: Object.fromEntries(
        codes.map((code) => [code, { $ref: `#/components/examples/${errorExampleName(code, operation)}` }])
      )
    }
  }
})

/** Returns the error responses of an operation by status, as references to components. */
export const errorResponses = (operation: ApiOperation): JsonObject =>
  Object.fromEntries(
    [...errorsByStatus(operation.entry)].map(([status, codes]) => [
      `${status}`,
      { $ref: `#/components/responses/${responseName(codes, operation)}` }
    ])
  )

/**
 * Returns the components of all error responses, and their examples. Each example is the response to the first operation
 * of the catalog that has it.
 */
export const errorComponents = (): { readonly responses: JsonObject; readonly examples: JsonObject } => {
  const responses: Record<string, JsonObject> = {}
  const examples: Record<string, JsonObject> = {}
  for (const operation of operations) {
    for (const [status, codes] of errorsByStatus(operation.entry)) {
      responses[responseName(codes, operation)] ??= responseOf(status, codes, operation)
      for (const code of codes) {
        examples[errorExampleName(code, operation)] ??= {
          summary: `In response to ${operation.name}`,
          value: toJsonObject(errorExample(code, operation))
        }
      }
    }
  }
  return { responses, examples }
}
