/** Plays the outside world: sends a mail to the SMTP port of the sandbox. Arguments: the address and the text. */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { createTransport } from "nodemailer"

const { positionals, values } = parseArgs({ allowPositionals: true, options: { sandbox: { type: "string" } } })
const [to, text = "Hello"] = positionals
const sandboxFile = values.sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const { mail } = JSON.parse(readFileSync(sandboxFile, "utf8"))
const transport = createTransport({ host: mail.host, port: mail.port, tls: { rejectUnauthorized: false } })
const answer = await transport.sendMail({ from: "you@outside.example", to, subject: "A mail from outside", text })
console.log(answer.response)
