import type { CommandSpec, Failure } from "@agentos/node/command-line"

/** The flags and arguments whose names differ from those of the API's inputs that they set. */
const NAMES: Readonly<Record<string, ReadonlyArray<string>>> = {
  agentDescription: ["description"],
  agentId: ["agent", "mailbox"],
  agentWebhookUrl: ["webhook"],
  attachments: ["attach"],
  callId: ["call"],
  eventId: ["event"],
  initialGreeting: ["greeting"],
  localPart: ["localpart"],
  mailboxId: ["mailbox", "from"],
  messageId: ["message"],
  outboundSignature: ["signature"],
  phoneNumberId: ["number", "from"],
  q: ["query", "search"],
  resourceId: ["resource"],
  toNumber: ["to"]
}
/** Inputs within another input that have a flag of their own. */
const INNER = new Set(["senderPolicy"])

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Returns an input of the API as the user of a command writes it; undefined if the command has no name for it. */
const asWritten = (path: string, { arguments: given, flags }: CommandSpec): string | undefined => {
  const [first = "", second = ""] = path.split(".")
  const names = [...(INNER.has(first) ? [second] : []), ...(NAMES[first] ?? []), kebab(first)]
  for (const name of names) {
    if (flags.some((flag) => flag.name === name)) {
      // One of several values of a flag.
      return /^\d+$/.test(second) && Number(second) > 0 ? `value ${Number(second) + 1} of --${name}` : `--${name}`
    }
    if (given.some((argument) => argument.name === name)) return name.toUpperCase()
  }
  return undefined
}

/** Names the inputs in a failure as the flags and arguments of the command. */
export const inWordsOf = (failure: Failure, command: CommandSpec): Failure => {
  const { issues = [], message } = failure.parts
  const [only] = issues
  if (only === undefined) return failure
  const shown = (path: string): string => asWritten(path, command) ?? path
  return failure.with({
    message: message.startsWith(`${only.path} `) ? `${shown(only.path)}${message.slice(only.path.length)}` : message,
    issues: issues.map((issue) => ({ ...issue, path: shown(issue.path) }))
  })
}
