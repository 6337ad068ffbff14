import { Failure, usageError } from "@agentos/node/command-line"
import { basename, extname, resolve } from "node:path"
import type { Context } from "../context/Context.ts"
import { readNamed } from "../file/PrivateFile.ts"

/** The limit of the service for all attachments of a message. */
export const LIMIT_BYTES = 10 * 1024 * 1024

/** The media types of common files. Others are sent as bytes, which mail programs open by their name. */
const TYPES: Readonly<Record<string, string>> = {
  ".csv": "text/csv",
  ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ".gif": "image/gif",
  ".htm": "text/html",
  ".html": "text/html",
  ".ics": "text/calendar",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".md": "text/markdown",
  ".mp3": "audio/mpeg",
  ".mp4": "video/mp4",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".webp": "image/webp",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ".xml": "application/xml",
  ".zip": "application/zip"
}

/** The failure for attachments that the service would refuse. */
export const tooLarge = (next: ReadonlyArray<string> = []): Failure =>
  usageError("The attachments are larger than 10 MiB together.", next)

/** An attachment as the service takes it. */
export interface NewAttachment {
  readonly filename: string
  readonly contentType: string
  readonly contentBase64: string
}

/**
 * Reads the files of --attach. Fails if one is missing, or if they are larger than the service accepts, together with
 * the `otherBytes` of other attachments.
 */
export const readAttachments = async (
  { host }: Context,
  files: ReadonlyArray<string>,
  otherBytes = 0
): Promise<ReadonlyArray<NewAttachment>> => {
  const attachments: Array<NewAttachment> = []
  let sizeBytes = otherBytes
  for (const file of files) {
    const path = resolve(host.workingDirectory, file)
    const content = await readNamed(path, LIMIT_BYTES, tooLarge)
    if (content === undefined) throw new Failure({ code: "NOT_FOUND", message: `File ${file} does not exist.` })
    sizeBytes += content.length
    if (sizeBytes > LIMIT_BYTES) throw tooLarge()
    attachments.push({
      filename: basename(path),
      contentType: TYPES[extname(path).toLowerCase()] ?? "application/octet-stream",
      contentBase64: content.toString("base64")
    })
  }
  return attachments
}
