import { ERROR_STATUS } from "@agentos/api"
import type { Flaw } from "./Flaw.ts"
import type { HttpAnswer } from "./HttpConnection.ts"

export interface Expectation {
  /** Whether errors have the envelope. The carrier's are empty, and so are answers to HEAD. */
  readonly hasEnvelope: boolean
}

/** Stack traces and source paths. */
const INTERNALS = /\n\s+at .+:\d+:\d+|node:internal|\/packages\/\w+\/src\//
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Checks that answers keep the promises that every answer must keep. */
export class Oracle {
  readonly #canaries: ReadonlyArray<string>
  readonly #statuses = new Map<number, number>()

  constructor(canaries: ReadonlyArray<string>) {
    this.#canaries = canaries
  }

  /** How often each status was answered. */
  get statuses(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#statuses].toSorted(([left], [right]) => left - right))
  }

  examineText(text: string): ReadonlyArray<Flaw> {
    const flaws: Array<Flaw> = []
    if (this.#canaries.some((canary) => text.includes(canary))) {
      flaws.push({ rule: "answers hold no other tenant's data", detail: excerpt(text) })
    }
    if (INTERNALS.test(text)) flaws.push({ rule: "answers show nothing of the inside", detail: excerpt(text) })
    return flaws
  }

  examineAnswer(answer: HttpAnswer, { hasEnvelope }: Expectation): ReadonlyArray<Flaw> {
    const { body, headers, status } = answer
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    const flaws = [...this.examineText(body)]
    for (const [name, value] of headers) flaws.push(...this.examineText(`${name}: ${value}`))
    if (status === 500) flaws.push({ rule: "no answer is a 500", detail: excerpt(body) })
    if (status >= 300 && status < 400 && status !== 304) {
      flaws.push({ rule: "nothing redirects", detail: String(status) })
    }
    if (status >= 400 && hasEnvelope) {
      const flaw = envelopeFlaw(answer)
      if (flaw !== undefined) {
        flaws.push({ rule: "errors have the envelope", detail: `${flaw} in ${status}: ${excerpt(body)}` })
      }
    }
    return flaws
  }
}

const excerpt = (text: string): string => text.slice(0, 300)

const envelopeFlaw = ({ body, headers, status }: HttpAnswer): string | undefined => {
  const read = readJson(body)
  if (read === undefined) return "no JSON"
  const { error, guides } = read as { readonly error?: Readonly<Record<string, unknown>>; readonly guides?: unknown }
  if (error === undefined || guides === undefined) return "no error or no guides"
  const { code, message, requestId, retryable } = error
  if (typeof code !== "string" || !(code in ERROR_STATUS)) return "an unknown code"
  if (ERROR_STATUS[code as keyof typeof ERROR_STATUS] !== status) return "another status than the code's"
  if (typeof message !== "string" || message === "" || typeof retryable !== "boolean") return "a field missing"
  if (typeof requestId !== "string" || !UUID.test(requestId)) return "no requestId"
  if (headers.get("x-request-id") !== requestId) return "another requestId than the header's"
  return undefined
}

const readJson = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
