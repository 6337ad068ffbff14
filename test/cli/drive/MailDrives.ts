import { PhoneCarrier } from "../../support/PhoneCarrier.ts"
import { answering, asking, type Drives, paying, PRICES, reading } from "./Drive.ts"
import type { Scene, Stage } from "./Stage.ts"

interface Messages {
  readonly items: ReadonlyArray<{ readonly messageId: string; readonly direction: string }>
}

/** Returns the id of the only received message. */
const receivedId = async (stage: Stage): Promise<string> => {
  const { items } = await stage.ask<Messages>("mail", "list")
  const { messageId } = items.find(({ direction }) => direction === "inbound")!
  return messageId
}

/** A command on a message or a conversation that does not exist. */
const unknown = (command: string, flags = ""): Scene => ({
  args: `${command} 0190f3c2-0000-7000-8000-000000000009${flags}`,
  exit: 5,
  env: {}
})

/** The mailboxes are bought first, then used and deleted. */
export const MAIL_DRIVES: Drives<
  | "mailbox create"
  | "mailbox list"
  | "mailbox update"
  | "mail wait"
  | "mail send"
  | "mail list"
  | "mail read"
  | "mail threads"
  | "mail thread"
  | "mail mark"
  | "mail label"
  | "mail cancel"
  | "mail suppressions list"
  | "mail suppressions lift"
  | "mailbox delete"
> = {
  "mailbox create": (stage) => {
    const [first, second, none] = ["ada", "eve", "nobody"].map((name) => `mailbox create ${stage.called(name)}`)
    const opening = (keys: ReadonlyArray<string>, exit: number): Scene => ({
      args: `${none} --wallet-file own.json`,
      exit,
      answers: [
        ["[y/N]", "y", "Enter"],
        ["Password for", ...keys]
      ]
    })
    return {
      ...paying(`${first} --display-name Ada`, PRICES.mailbox, {
        failure: { args: "mailbox create postmaster", exit: 3 },
        sent: second!
      }),
      success: {
        args: `${first} --display-name Ada`,
        exit: 0,
        price: PRICES.mailbox,
        // Another answer than yes or no is asked again, and Backspace works.
        answers: [
          ["[y/N]", "perhaps", "Enter"],
          ["[y/N]", "n", "BSpace", "y", "Enter"]
        ]
      },
      interrupt: answering(["C-c"], 130, none!),
      person: [
        answering(["n", "Enter"], 2, none!),
        answering(["Enter"], 2, none!),
        answering(["C-d"], 2, none!),
        { args: `${none} --max-amount 0.24`, exit: 7 },
        { args: none!, exit: 130, interrupt: "server" },
        // The same wallet as a keystore with a password.
        { ...opening(["C-c"], 130), before: () => stage.keep("own.json") },
        opening(["C-d"], 2),
        opening(["wrong horse", "Enter"], 4)
      ],
      program: [
        { args: none!, exit: 3 },
        { args: `${none} --yes`, exit: 3 },
        { args: `${none} --yes --max-amount 0.24`, exit: 7 }
      ]
    }
  },
  "mailbox list": () => asking("mailbox list"),
  "mailbox update": (stage) =>
    paying(`mailbox update ${stage.addressOf("ada")} --display-name "Ada L."`, PRICES.change, {
      failure: { args: "mailbox update bob@outside.example --active false", exit: 5 },
      sent: `mailbox update ${stage.addressOf("ada")} --active true`
    }),
  "mail wait": (stage) => {
    const none = "mail wait --subject nothing --timeout"
    return {
      success: {
        args: "mail wait --subject welcome",
        exit: 0,
        before: () => stage.receive("ada", "Welcome \u001b]0;owned\u0007", "Your code is 482 913.")
      },
      // Longer than the first poll on a busy machine, so that the remark about waiting appears.
      failure: { args: `${none} 4s`, exit: 5 },
      interrupt: { args: `${none} 1m`, exit: 130, interrupt: { said: "Waiting 1 min" } },
      person: [
        { args: "mail wait --otp --unverified --since 10m", exit: 0 },
        // The sender is not verified.
        { args: "mail wait --otp --from stranger.example --timeout 0s", exit: 5 },
        { args: "mail wait", exit: 130, interrupt: "server" }
      ],
      program: [
        { args: "mail wait --otp --unverified --since 10m", exit: 0 },
        { args: "mail wait --otp --timeout 0s", exit: 5 }
      ]
    }
  },
  "mail send": (stage) => {
    const send = `mail send --from ${stage.addressOf("ada")} --to bob@outside.example --subject Hello`
    stage.put("text", "From a file.\n")
    return {
      ...paying(`${send} --text "Are you there?"`, PRICES.message, {
        failure: { args: `${send} --to nobody --text "Are you there?"`, exit: 3 }
      }),
      person: [{ args: send, exit: 3 }, reading(`${send} --text-file - --yes --max-amount 0.02`)],
      program: [
        { args: `${send} --yes --max-amount 0.02`, exit: 0, stdin: "text", price: PRICES.message },
        { args: `${send} --yes --max-amount 0.02`, exit: 3 }
      ]
    }
  },
  "mail list": () => asking("mail list"),
  "mail read": async (stage) => asking(`mail read ${await receivedId(stage)}`, unknown("mail read")),
  "mail threads": () => asking("mail threads"),
  "mail thread": async (stage) => asking(`mail thread ${await receivedId(stage)}`, unknown("mail thread")),
  "mail mark": async (stage) => asking(`mail mark ${await receivedId(stage)} --read`, unknown("mail mark", " --read")),
  "mail label": async (stage) =>
    asking(`mail label ${await receivedId(stage)} --add Invoice`, unknown("mail label", " --add invoice")),
  "mail cancel": async (stage) => {
    const to = ["--from", stage.addressOf("ada"), "--to", "bob@outside.example"]
    const flags = ["--subject", "Later", "--text", "Hi", "--send-at", "2h", "--yes", "--max-amount", "0.02"]
    const { message } = await stage.ask<{ message: { messageId: string } }>("mail", "send", ...to, ...flags)
    return asking(`mail cancel ${message.messageId}`, unknown("mail cancel"))
  },
  "mail suppressions list": () => asking("mail suppressions list"),
  "mail suppressions lift": () => asking("mail suppressions lift bob@outside.example"),
  "mailbox delete": async (stage) => {
    await refunded(stage)
    return {
      ...paying(`mailbox delete ${stage.addressOf("ada")}`, PRICES.change, {
        failure: { args: "mailbox delete bob@outside.example", exit: 5 },
        sent: `mailbox delete ${stage.addressOf("eve")}`
      }),
      interrupt: answering(["C-c"], 130, `mailbox delete ${stage.addressOf("eve")}`)
    }
  }
}

interface Payments {
  readonly items: ReadonlyArray<{ readonly id: string; readonly body: string }>
}
interface PaymentStatus {
  readonly status: { readonly paymentState: string }
}

/** Waits until the canceled message is refunded, because the balance is on the screen. */
const refunded = async (stage: Stage): Promise<void> => {
  const { items } = await stage.ask<Payments>("payments", "list")
  const scheduled = items.find(({ body }) => body.includes('"sendAt"'))
  if (scheduled === undefined) return
  await new PhoneCarrier(stage.sandbox).until(
    () => stage.ask<PaymentStatus>("payments", "status", scheduled.id),
    ({ status }) => status.paymentState === "refunded"
  )
}
