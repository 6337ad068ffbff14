import { makeFaultPlan } from "../fault/FaultPlan.ts"
import { failed, type Handler, type JsonServer, type Routes, startJsonServer } from "../http/JsonServer.ts"
import { makeExchange } from "./call/Exchange.ts"
import { makeCallApi } from "./CallApi.ts"
import { makeCallClock } from "./CallClock.ts"
import { openCarrierStore } from "./CarrierStore.ts"
import { makeJournal } from "./Journal.ts"
import { makeNumberApi } from "./NumberApi.ts"
import { makeSandboxApi, showCallOf, usualDelivery } from "./SandboxApi.ts"
import { makeTwilioWebhooks } from "./twilio/TwilioWebhooks.ts"
import { isTwilioPath, makeTwilioApi } from "./TwilioApi.ts"
import { type Faulty, withFaults } from "./TwilioRequest.ts"

/** A carrier that serves: /2010-04-01 and /sandbox follow on its url. */
export type Carrier = JsonServer

export interface CarrierOptions {
  /** What it has sold, and its calls, are kept here. One process per directory. */
  readonly dataDir: string
  /** The account that it serves: AC and 32 hexadecimal digits. */
  readonly accountSid: string
  /** Opens the account, and signs what is sent to it. */
  readonly authToken: string
  /** 0, which is the default, takes a free port. */
  readonly port?: number
  /** How much faster than outside the seconds of calls pass at first; 1 unless given. */
  readonly speed?: number
}

/**
 * Starts the sandbox's telephone carrier on 127.0.0.1: the part of Twilio's REST interface by which numbers are bought
 * and calls made, its webhooks with their signatures, and the socket of ConversationRelay. Beside it, under /sandbox,
 * what plays the people on the other end (see `makeSandboxApi`). Rejects when the port or the directory can't be had.
 */
export const startCarrier = async (options: CarrierOptions): Promise<Carrier> => {
  const { accountSid, authToken, dataDir, port = 0, speed = 1 } = options
  if (!/^AC[\da-f]{32}$/.test(accountSid))
    throw new Error("The carrier's account sid is no AC and 32 hexadecimal digits")
  const store = await openCarrierStore(dataDir)
  const journal = makeJournal()
  const clock = makeCallClock(speed)
  const webhooks = makeTwilioWebhooks(authToken, journal)
  const delivery = { current: usualDelivery }
  const limits = { current: { kept: true } }
  const faults = makeFaultPlan<Faulty>()
  const faulty = withFaults(faults)
  const exchange = makeExchange({
    accountSid,
    authToken,
    clock,
    store,
    journal,
    webhooks,
    delivery: () => delivery.current,
    keepsLimits: () => limits.current.kept
  })
  const twilio = makeTwilioApi({
    accountSid,
    authToken,
    journal,
    numbers: makeNumberApi(accountSid, store, faulty),
    calls: makeCallApi(accountSid, store, exchange, faulty)
  })
  const controls = makeSandboxApi({ store, exchange, journal, clock, faults, delivery, limits })
  const handle: Handler = async (request) => {
    const url = URL.parse(request.url ?? "", "http://carrier")
    if (url === null) return failed(400, "no such address")
    if (isTwilioPath(url.pathname)) return twilio(request, url)
    const method = request.method ?? "GET"
    const handler = showCallOf(store, url.pathname) ?? handlerOf(controls, url.pathname, method)
    return handler === undefined ? failed(404, "no such route") : handler(request)
  }
  const server = await startJsonServer({ routes: handle, port })
  return {
    ...server,
    close: async () => {
      webhooks.stop()
      exchange.stop()
      clock.stop()
      await server.close()
      await store.flush()
    }
  }
}

const handlerOf = (routes: Routes, path: string, method: string): Handler | undefined => {
  const methods = Object.hasOwn(routes, path) ? routes[path] : undefined
  if (methods === undefined) return undefined
  return methods[method] ?? (async () => failed(405, "method not allowed", { Allow: Object.keys(methods).join(", ") }))
}
