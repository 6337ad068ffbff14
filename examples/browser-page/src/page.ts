/** A page with a mailbox. The wallet pays from the browser, and no server of the page sees the token. */
import {
  AgentOs,
  AgentOsError,
  type JournalEntry,
  type Mail,
  type PaymentJournal,
  type TokenStore
} from "@agentos/client"
import { openWallet } from "./wallet.ts"

const element = <Kind extends Element>(selector: string, parent: ParentNode = document): Kind => {
  const found = parent.querySelector<Kind>(selector)
  if (found === null) throw new Error(`${selector} is missing in the page`)
  return found
}

/** The token, until the tab is closed. Scripts of the same origin can read it. */
const tokens: TokenStore = {
  get: (key) => sessionStorage.getItem(key),
  set: (key, token) => sessionStorage.setItem(key, token)
}

/** The payments, so that the daily limit counts after a reload, and an interrupted payment is not signed again. */
const journal: PaymentJournal = {
  load: async () =>
    Object.keys(localStorage)
      .filter((key) => key.startsWith("payment "))
      .map((key): JournalEntry => JSON.parse(localStorage.getItem(key) ?? "")),
  save: async (entry) => localStorage.setItem(`payment ${entry.id}`, JSON.stringify(entry))
}

/** Shows a failure, and whether it cost money. */
const report = (error: unknown): void => {
  element('[role="alert"]').textContent =
    error instanceof AgentOsError
      ? `${error.code}: ${error.message} Money moved: ${error.moneyMoved}.`
      : error instanceof Error
        ? error.message
        : String(error)
}

/** Runs a task when a form is submitted, and not again before it has ended. */
const onSubmit = (form: HTMLFormElement, task: (fields: Record<string, string>) => Promise<void>): void => {
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    element('[role="alert"]').textContent = ""
    const button = element<HTMLButtonElement>("button", form)
    button.disabled = true
    const fields = Object.fromEntries(
      [...new FormData(form)].map(([name, value]) => [name, typeof value === "string" ? value.trim() : ""])
    )
    task(fields)
      .catch(report)
      .finally(() => (button.disabled = false))
  })
}

/** Shows a mail until it is answered or skipped. It is text from a stranger: textContent runs no script in it. */
const handle = (mail: Mail): Promise<void> =>
  new Promise((resolve) => {
    const item = element<HTMLTemplateElement>("template").content.cloneNode(true) as DocumentFragment
    element("h2", item).textContent = `${mail.subject}, from ${mail.from}`
    element("p", item).textContent = mail.record.extractedText
    const form = element<HTMLFormElement>("form", item)
    const close = (text: string): void => {
      form.replaceWith(text)
      resolve()
    }
    onSubmit(form, async ({ text = "" }) => {
      await mail.reply({ text })
      close(`You answered: ${text}`)
    })
    element("[type=button]", form).addEventListener("click", () => close("Skipped."))
    element("main").prepend(item)
  })

const connect = element<HTMLFormElement>("#connect")
element<HTMLInputElement>("[name=baseUrl]", connect).value = document.body.dataset["baseUrl"] ?? ""

onSubmit(connect, async ({ baseUrl = "", key = "", localPart = "" }) => {
  const spend = { perCall: "0.25", perDay: "1.00" }
  const agent = await AgentOs.connect(baseUrl, { wallet: await openWallet(key), spend, tokens, journal })
  const mailbox = await agent.mailboxes.open({ localPart })
  connect.remove()
  const showStatus = (): void => {
    element('[role="status"]').textContent = `${mailbox.address}, spent today: ${agent.payments.spent().lastDay} USDT`
  }
  showStatus()
  for await (const mail of mailbox.messages({ new: true })) {
    await handle(mail)
    showStatus()
  }
})
