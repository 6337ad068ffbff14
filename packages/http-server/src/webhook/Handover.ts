import { Context, Deferred, Effect, Layer } from "effect"

/**
 * The calls whose relays this server closes because it stops. The carrier asks at once how each call continues, and is
 * answered while the server still runs.
 */
export class Handover extends Context.Service<
  Handover,
  {
    /** Returns whether the server is stopping, so that it accepts no new relay. */
    readonly isBegun: () => boolean
    readonly begin: (callIds: Iterable<string>) => void
    /** Records that the carrier has asked about a call. */
    readonly asked: (callId: string) => void
    /** Waits until the carrier has asked about every call. */
    readonly allAsked: Effect.Effect<void>
  }
>()("@agentos/http-server/webhook/Handover") {
  static readonly layer = Layer.sync(Handover, () => {
    const waiting = new Set<string>()
    const done = Deferred.makeUnsafe<void>()
    let isBegun = false
    const look = (): void => {
      if (isBegun && waiting.size === 0) Deferred.doneUnsafe(done, Effect.void)
    }
    return Handover.of({
      isBegun: () => isBegun,
      begin: (callIds) => {
        isBegun = true
        for (const callId of callIds) waiting.add(callId)
        look()
      },
      asked: (callId) => {
        waiting.delete(callId)
        look()
      },
      allAsked: Deferred.await(done)
    })
  })
}
