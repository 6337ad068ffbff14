import { asking, type Drives, offline, PRICES, reading, WRONG_TOKEN } from "./Drive.ts"
import type { Stage } from "./Stage.ts"

const NO_SUCH = "0190f3c2-0000-7000-8000-000000000009"
const ASKED = "Access token for"

/** Buys a mailbox and receives a message, so that there are two events and a payment. */
export const prepareInbox = async (stage: Stage): Promise<void> => {
  await stage.buy("mailbox", "create", stage.called("inbox"))
  await stage.receive("inbox", "Hello", "Are you there?")
  await stage.ask("mail", "wait")
}

interface Events {
  readonly items: ReadonlyArray<{ readonly eventId: string }>
}

const eventIds = async (stage: Stage): Promise<ReadonlyArray<string>> =>
  (await stage.ask<Events>("events", "list")).items.map(({ eventId }) => eventId)

/** Ends with logout. */
export const INBOX_DRIVES: Drives<
  | "login"
  | "whoami"
  | "limits"
  | "events list"
  | "events get"
  | "events tail"
  | "events ack"
  | "events ack-all"
  | "payments list"
  | "payments show"
  | "payments status"
  | "payments receipt"
  | "payments resume"
  | "logout"
> = {
  login: (stage) => {
    const token = stage.token()
    stage.secrets.push(token)
    stage.put("token", `${token}\n`)
    stage.put("wrong-token", "at_v1_0\n")
    return {
      success: { args: "login", exit: 0, answers: [[ASKED, token, "Enter"]] },
      failure: { args: "login", exit: 4, answers: [[ASKED, "at_v1_0", "Enter"]] },
      interrupt: { args: "login", exit: 130, answers: [[ASKED, "C-c"]] },
      asProgram: {
        success: { args: "login", exit: 0, stdin: "token" },
        failure: { args: "login", exit: 4, stdin: "wrong-token" }
      },
      person: [
        { args: "login", exit: 2, answers: [[ASKED, "C-d"]] },
        { args: "login", exit: 3, answers: [[ASKED, "no token", "Enter"]] },
        { args: "login", exit: 130, answers: [[ASKED, token, "Enter"]], interrupt: "server" },
        reading("login")
      ],
      program: [{ args: "login", exit: 3 }]
    }
  },
  whoami: () => asking("whoami"),
  limits: () => asking("limits"),
  "events list": () => asking("events list"),
  "events get": async (stage) => {
    const [first] = await eventIds(stage)
    return asking(`events get ${first}`, { args: `events get ${NO_SUCH}`, exit: 5, env: {} })
  },
  "events tail": () => ({
    success: { args: "events tail --max 2", exit: 0 },
    failure: { args: "events tail", exit: 4, env: WRONG_TOKEN },
    interrupt: { args: "events tail", exit: 130, interrupt: { said: "email.received" } },
    person: [
      { args: "events tail --exec 'echo handled' --max 1", exit: 0 },
      { args: "events tail", exit: 130, interrupt: "server" }
    ]
  }),
  "events ack": async (stage) =>
    asking(`events ack ${(await eventIds(stage)).join(" ")}`, { args: `events ack ${NO_SUCH}`, exit: 5, env: {} }),
  "events ack-all": () => asking("events ack-all"),
  "payments list": () => offline("payments list", { args: "payments list --limit 0" }),
  "payments show": (stage) =>
    offline(`payments show ${stage.customer.payments()[0]}`, { args: `payments show ${NO_SUCH}`, exit: 5 }),
  "payments status": (stage) =>
    asking(`payments status ${stage.customer.payments()[0]}`, {
      args: `payments status ${NO_SUCH}`,
      exit: 5,
      env: {}
    }),
  "payments receipt": (stage) =>
    offline(`payments receipt ${stage.customer.payments()[0]}`, { args: `payments receipt ${NO_SUCH}`, exit: 5 }),
  "payments resume": (stage) => {
    const open = (name: string) => () => stage.leaveOpen(name)
    return {
      success: { args: "payments resume", exit: 0, price: PRICES.mailbox, before: open("first") },
      failure: { args: `payments resume ${NO_SUCH}`, exit: 5 },
      // The request may have arrived, which "Interrupted." alone would hide.
      interrupt: {
        args: "payments resume",
        exit: 8,
        price: PRICES.mailbox,
        before: open("second"),
        interrupt: "server"
      },
      sent: {
        args: "payments resume --all",
        exit: 8,
        price: PRICES.mailbox,
        before: open("third"),
        interrupt: "payment"
      },
      person: [{ args: "payments resume", exit: 0 }],
      program: [
        { args: "payments resume", exit: 8, price: PRICES.mailbox, before: open("second"), manner: "loses" },
        { args: "payments resume", exit: 0 }
      ]
    }
  },
  logout: () => offline("logout", { env: { AGENTOS_BASE_URL: "" } })
}
