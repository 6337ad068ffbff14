import { makeFaultPlan } from "../shared/FaultPlan.ts"
import { errorResult, type Handler, type JsonServer, route, startJsonServer } from "../shared/JsonServer.ts"
import { makeCallApi } from "./api/CallApi.ts"
import { makeNumberApi } from "./api/NumberApi.ts"
import { isTwilioPath, makeTwilioApi } from "./api/TwilioApi.ts"
import { type FaultOperation, withFaults } from "./api/TwilioRequest.ts"
import { makeActiveCalls } from "./call/ActiveCalls.ts"
import { makeWebhooks } from "./call/Webhooks.ts"
import { makeCallClock } from "./CallClock.ts"
import { openCarrierStore } from "./CarrierStore.ts"
import { makeRequestLog } from "./RequestLog.ts"
import { callRoute, defaultDelivery, makeSandboxApi } from "./SandboxApi.ts"

/** A running carrier. Append /2010-04-01 or /sandbox to its url. */
export type Carrier = JsonServer

export interface CarrierOptions {
  /** Stores numbers and calls. One process per directory. */
  readonly dataDir: string
  /** The only account: AC and 32 hexadecimal digits. */
  readonly accountSid: string
  /** Authenticates requests, and signs webhooks. */
  readonly authToken: string
  /** 0, the default, selects a free port. */
  readonly port?: number
  /** The initial speed of the calls' clock; 1 by default. */
  readonly speed?: number
}

/**
 * Starts the sandbox's phone carrier on 127.0.0.1: the part of Twilio's REST API that buys numbers and places calls, its
 * signed webhooks, and the ConversationRelay socket. The routes under /sandbox control the simulated people (see
 * `makeSandboxApi`). Rejects if the port or the directory is not available.
 */
export const startCarrier = async (options: CarrierOptions): Promise<Carrier> => {
  const { accountSid, authToken, dataDir, port = 0, speed = 1 } = options
  if (!/^AC[\da-f]{32}$/.test(accountSid)) throw new Error("The account sid must be AC and 32 hexadecimal digits")
  const store = await openCarrierStore(dataDir)
  const requestLog = makeRequestLog()
  const clock = makeCallClock(speed)
  const webhooks = makeWebhooks(authToken, requestLog)
  const delivery = { current: defaultDelivery }
  const limits = { current: { kept: true } }
  const faults = makeFaultPlan<FaultOperation>()
  const runWithFaults = withFaults(faults)
  const activeCalls = makeActiveCalls({
    accountSid,
    authToken,
    clock,
    store,
    requestLog,
    webhooks,
    delivery: () => delivery.current,
    enforcesTimeLimits: () => limits.current.kept
  })
  const twilio = makeTwilioApi({
    accountSid,
    authToken,
    requestLog,
    numbers: makeNumberApi(accountSid, store, runWithFaults),
    calls: makeCallApi(accountSid, store, activeCalls, runWithFaults)
  })
  const controls = makeSandboxApi({ store, activeCalls, requestLog, clock, faults, delivery, limits })
  const handle: Handler = async (request) => {
    const url = URL.parse(request.url ?? "", "http://carrier")
    if (url === null) return errorResult(400, "the request URL is not valid")
    if (isTwilioPath(url.pathname)) return twilio(request, url)
    return callRoute(store, url.pathname)?.(request) ?? route(controls, url.pathname, request)
  }
  const server = await startJsonServer({ routes: handle, port })
  return {
    ...server,
    close: async () => {
      webhooks.stop()
      activeCalls.stop()
      clock.stop()
      await server.close()
      await store.flush()
    }
  }
}
