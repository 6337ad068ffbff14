import { AgentOsError } from "../AgentOsError.ts"
import type { Settings } from "../Options.ts"
import { type Answer, retryAfterSeconds } from "./Answer.ts"
import type { Http, Request } from "./Http.ts"
import { errorOf } from "./WireError.ts"

/** Delays before the second and the third attempt of a call that may be repeated. */
const RETRY_MILLIS = [250, 1_000]
/** A longer Retry-After is reported instead of waited for. */
const RETRY_AFTER_MILLIS_MAX = 5_000

interface Repetition {
  /** Whether it may be sent again after a lost answer. Otherwise it is sent once. */
  readonly isRepeatable: boolean
  readonly signal?: AbortSignal | undefined
}

/** Sends a request, and repeats one that may be repeated after a lost answer or as the server asks. */
export const sendRepeatedly = async (
  { clock, onRetry }: Settings,
  http: Http,
  request: Request,
  { isRepeatable, signal }: Repetition
): Promise<Answer> => {
  for (const delay of isRepeatable ? RETRY_MILLIS : []) {
    const outcome = await http.send(request, signal).catch((error: unknown) => {
      if (error instanceof AgentOsError && error.code === "UNREACHABLE") return error
      throw error
    })
    const error = "code" in outcome ? outcome : errorOf(outcome)
    const delayMillis = "code" in outcome ? delay : retryDelay(outcome, delay)
    if (delayMillis === undefined || !onRetry({ error, delayMillis, paymentId: null })) {
      if ("code" in outcome) throw outcome
      return outcome
    }
    await clock.sleep(delayMillis, signal)
    signal?.throwIfAborted()
  }
  return http.send(request, signal)
}

/** Returns the delay before a retry; undefined if the answer is final. */
const retryDelay = (answer: Answer, delay: number): number | undefined => {
  if ((answer.status !== 429 && answer.status < 500) || !errorOf(answer).isRetryable) return undefined
  const asked = (retryAfterSeconds(answer) ?? 0) * 1_000
  return asked > RETRY_AFTER_MILLIS_MAX ? undefined : Math.max(delay, asked)
}
