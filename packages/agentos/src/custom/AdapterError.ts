import { ProviderError, type ProviderErrorReason } from "@agentos/core"
import { Effect } from "effect"

/**
 * The error with which a host's own rail, mail or carrier says what happened:
 *
 * - `Temporary`: nothing happened, and the same call may succeed later;
 * - `Rejected`: nothing happened, and the same call will never succeed;
 * - `Misconfigured`: nothing happened, and the operator must act;
 * - `Unknown`: it may have happened. It is determined before it is repeated.
 *
 * Its message is shown to the tenant, so it must contain no secret. Any other error counts as `Unknown` where the call
 * could have had an effect, and as `Temporary` elsewhere; its message appears in the log only.
 */
export class AdapterError extends Error {
  override readonly name = "AdapterError"
  readonly reason: ProviderErrorReason
  /** For a mail that was not sent: each refused recipient with the reason. */
  readonly refused: ReadonlyArray<{ readonly address: string; readonly reason: string }> | undefined

  constructor(
    reason: ProviderErrorReason,
    message: string,
    options: ErrorOptions & Partial<Pick<AdapterError, "refused">> = {}
  ) {
    super(message, options)
    this.reason = reason
    this.refused = options.refused
  }
}

type Method = (...given: ReadonlyArray<never>) => unknown
/** The names of the methods of an adapter. */
type MethodOf<Adapter> = {
  [Name in keyof Adapter]-?: Adapter[Name] extends Method | undefined ? Name : never
}[keyof Adapter] &
  string
type Given<Adapter, Name extends keyof Adapter> = Parameters<Extract<Adapter[Name], (...given: never) => unknown>>
type Result<Adapter, Name extends keyof Adapter> = Awaited<
  ReturnType<Extract<Adapter[Name], (...given: never) => unknown>>
>

const hasReason = (error: unknown): error is AdapterError =>
  error instanceof AdapterError ||
  (error instanceof Error &&
    "reason" in error &&
    ["Temporary", "Rejected", "Misconfigured", "Unknown"].includes(String(error.reason)))

/** Returns the method, or throws an error that names the missing one. */
export const methodOf = <Adapter extends object, Name extends MethodOf<Adapter>>(
  option: string,
  adapter: Adapter,
  name: Name
) => {
  const method = adapter[name]
  if (typeof method === "function") return method.bind(adapter) as Extract<Adapter[Name], Method>
  throw new AdapterError("Misconfigured", `${option}.${name} is not a function. Implement it, as its type describes.`)
}

/**
 * Returns a function that calls methods of an adapter by name. Methods are looked up when they are called. `otherwise`
 * is the reason of an error that states none.
 */
export const caller =
  <Adapter extends object>(option: string, provider: string, adapter: Adapter) =>
  <Name extends MethodOf<Adapter>>(
    name: Name,
    otherwise: ProviderErrorReason,
    ...given: Given<Adapter, Name> & ReadonlyArray<unknown>
  ): Effect.Effect<Result<Adapter, Name>, ProviderError> =>
    Effect.tryPromise({
      try: async () => {
        const method = methodOf(option, adapter, name) as (...values: ReadonlyArray<unknown>) => unknown
        return await method(...given)
      },
      catch: (cause) =>
        hasReason(cause)
          ? new ProviderError({
              provider,
              reason: cause.reason,
              message: cause.message,
              ...(cause.refused === undefined ? {} : { refused: cause.refused })
            })
          : new ProviderError({ provider, reason: otherwise, message: `The provider ${provider} failed.`, cause })
    }).pipe(
      Effect.map((result) => result as Result<Adapter, Name>),
      Effect.tapError(({ cause, message, reason }) => {
        if (cause !== undefined) return Effect.logError(`${option}.${name} failed`, cause)
        return reason === "Misconfigured" ? Effect.logError(message) : Effect.void
      })
    )
