/** Sends a mail to the SMTP server of the sandbox, from another domain. Arguments: the address and the text. */
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
  // The signature authenticates the domain of the sender.
  dkim: { domainName: domain, keySelector: dkimSelector, privateKey: readFileSync(dkimKeyFile, "utf8") }
})
const sent = await transport.sendMail({ from: `you@${domain}`, to, subject: "A mail from another domain", text })
console.log(sent.response)
