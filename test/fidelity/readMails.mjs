// Reads mails with mailparser. Input: a path in each line. Output: a JSON object in each line.
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { simpleParser } from "mailparser"

const addressesOf = (field) =>
  [field]
    .flat()
    .flatMap((each) => each?.value ?? [])
    .flatMap((entry) => entry.group ?? [entry])
    .flatMap(({ address }) => (address ? [address] : []))

for await (const path of createInterface({ input: process.stdin })) {
  try {
    const mail = await simpleParser(await readFile(path), {
      skipHtmlToText: true,
      skipTextToHtml: true,
      skipTextLinks: true
    })
    const read = {
      from: addressesOf(mail.from),
      to: addressesOf(mail.to),
      cc: addressesOf(mail.cc),
      subject: mail.subject ?? "",
      messageId: mail.messageId ?? "",
      text: mail.text ?? null,
      html: mail.html || null,
      attachments: mail.attachments.map(({ contentType, filename, size }) => ({
        filename: filename ?? null,
        contentType,
        sizeBytes: size
      }))
    }
    console.log(JSON.stringify({ read }))
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }))
  }
}
