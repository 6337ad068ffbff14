import { PhoneCarrier, type Line } from "../../support/PhoneCarrier.ts"
import { answering, asking, type Drives, paying, PRICES } from "./Drive.ts"
import type { Stage } from "./Stage.ts"

const NO_SUCH = "0190f3c2-0000-7000-8000-000000000009"
const NOT_YOURS = "+12125550100"

interface Numbers {
  readonly items: ReadonlyArray<{ readonly number: string }>
}
interface Placed {
  readonly call: { readonly callId: string; readonly status: string; readonly answeredBy: string | null }
}

const numbersOf = async (stage: Stage): Promise<ReadonlyArray<string>> =>
  (await stage.ask<Numbers>("number", "list")).items.map(({ number }) => number)

const NUMBER = { first: 0, second: 1 }
const oneNumber = async (stage: Stage, which: number): Promise<string> => (await numbersOf(stage))[which]!

/** A person who answers and says these lines. */
const person = (stage: Stage, ...lines: ReadonlyArray<Line>): Promise<string> =>
  new PhoneCarrier(stage.sandbox).person({ lines, ringSeconds: 0 })

const ASKS = "Who's there?"
const STAYS = [ASKS, { silence: 600 }]

const GREETING = '--greeting "This is Ada."'

/** Places a call to a new person and returns its id. */
const call = async (stage: Stage, ...lines: ReadonlyArray<Line>): Promise<string> => {
  const to = await person(stage, ...lines)
  const from = await oneNumber(stage, NUMBER.first)
  const placing = ["call", "start", "--from", from, "--to", to, "--greeting", "This is Ada."]
  const { call: placed } = (await stage.buy(...placing)) as Placed
  return placed.callId
}

const until = (stage: Stage, callId: string, status: string) =>
  new PhoneCarrier(stage.sandbox).until(
    () => stage.ask<Placed>("call", "show", callId),
    // Who answered is reported beside the answer.
    (shown) => shown.call.status === status && shown.call.answeredBy !== null
  )

/** The numbers are bought first, then used and released. */
export const PHONE_DRIVES: Drives<
  | "number buy"
  | "number list"
  | "number renew"
  | "number add-minutes"
  | "call start"
  | "call extend"
  | "call transcript"
  | "call show"
  | "number release"
> = {
  "number buy": (stage) =>
    paying(`number buy us --agent-name Ada --webhook ${stage.sandbox.agentWebhookUrl}`, PRICES.number, {
      failure: { args: "number buy us --agent-name Ada --webhook ftp://agent.example", exit: 3 },
      sent: `number buy ca --agent-name Ada --webhook ${stage.sandbox.agentWebhookUrl}`
    }),
  "number list": () => asking("number list"),
  "number renew": async (stage) =>
    paying(`number renew ${await oneNumber(stage, NUMBER.first)}`, PRICES.number, {
      failure: { args: `number renew ${NOT_YOURS}`, exit: 5 }
    }),
  "number add-minutes": async (stage) =>
    paying(`number add-minutes ${await oneNumber(stage, NUMBER.first)}`, PRICES.minutes, {
      failure: { args: `number add-minutes ${NOT_YOURS}`, exit: 5 }
    }),
  "call start": async (stage) => {
    const from = await oneNumber(stage, NUMBER.first)
    const start = async () => `call start --from ${from} --to ${await person(stage, { hangup: true })} ${GREETING}`
    return paying(await start(), PRICES.call, {
      failure: { args: `call start --from ${from} --to 911`, exit: 3 },
      sent: await start()
    })
  },
  "call extend": async (stage) => {
    const callId = await call(stage, ...STAYS)
    await until(stage, callId, "in_progress")
    return paying(`call extend ${callId}`, PRICES.call, { failure: { args: `call extend ${NO_SUCH}`, exit: 5 } })
  },
  "call transcript": async (stage) => {
    const [ends, stays] = [await call(stage, ASKS, { hangup: true }), await call(stage, ...STAYS)]
    await until(stage, ends, "ended")
    return {
      success: { args: `call transcript ${ends} --follow`, exit: 0 },
      failure: { args: `call transcript ${NO_SUCH}`, exit: 5 },
      interrupt: { args: `call transcript ${stays} --follow`, exit: 130, interrupt: { said: "You said" } },
      person: [{ args: `call transcript ${stays}`, exit: 130, interrupt: "server" }]
    }
  },
  "call show": async (stage) => {
    const callId = await call(stage, { hangup: true })
    await until(stage, callId, "ended")
    return asking(`call show ${callId}`, { args: `call show ${NO_SUCH}`, exit: 5, env: {} })
  },
  "number release": async (stage) => {
    const numbers = await numbersOf(stage)
    const release = `number release ${numbers[NUMBER.first]}`
    return {
      success: answering(["y", "Enter"], 0, release),
      failure: { args: `number release ${NOT_YOURS}`, exit: 5 },
      interrupt: answering(["C-c"], 130, `number release ${numbers[NUMBER.second]}`),
      forPrograms: "--yes",
      person: [["n", "Enter"], ["Enter"], ["C-d"]].map((keys) =>
        answering(keys, 2, `number release ${numbers[NUMBER.second]}`)
      ),
      program: [{ args: release, exit: 3 }]
    }
  }
}
