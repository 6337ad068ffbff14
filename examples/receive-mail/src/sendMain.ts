/** Plays the outside world: sends a mail to the SMTP port of the sandbox. Arguments: the address and the text. */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { createTransport } from "nodemailer"

const { positionals, values } = parseArgs({ allowPositionals: true, options: { sandbox: { type: "string" } } })
const [to, text = "Hello"] = positionals
const sandboxFile = values.sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const { mail } = JSON.parse(readFileSync(sandboxFile, "utf8"))
const { dkimKeyFile, dkimSelector, domain } = mail.outside
const transport = createTransport({
  host: mail.host,
  port: mail.port,
  tls: { rejectUnauthorized: false },
  // Signed, so that the agent knows which domain the mail comes from.
  dkim: { domainName: domain, keySelector: dkimSelector, privateKey: readFileSync(dkimKeyFile, "utf8") }
})
const answer = await transport.sendMail({ from: `you@${domain}`, to, subject: "A mail from outside", text })
console.log(answer.response)
