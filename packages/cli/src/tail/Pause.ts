import { setTimeout as sleep } from "node:timers/promises"

/** Waits so long, or until it is stopped; never rejects. */
export const pause = async (millis: number, stop: AbortSignal): Promise<void> => {
  // What it rejects with is that it was stopped, which its caller sees on the signal.
  await Promise.allSettled([sleep(millis, undefined, { signal: stop })])
}
