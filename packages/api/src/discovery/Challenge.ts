import type { ChallengeResource, Extensions } from "@agentos/core"
import type { Operation } from "../operation/Operation.ts"
import { ICON_PATH } from "../PublicPath.ts"
import { API_NAME } from "./ApiIdentity.ts"

const TAGS = {
  email: ["email", "mailbox", "messaging", "agents"],
  phone: ["phone", "phone number", "voice calls", "telephony", "agents"]
} as const

const tagsOf = ({ entry }: Operation): ReadonlyArray<string> =>
  entry.capability === "email" || entry.capability === "phone" ? TAGS[entry.capability] : []

/** Returns the description of a paid operation for its challenge, on a server at `publicUrl`. */
export const challengeResource = (operation: Operation, publicUrl: string): ChallengeResource => ({
  url: `${publicUrl}${operation.entry.path}`,
  description: operation.entry.purpose,
  mimeType: "application/json",
  serviceName: API_NAME,
  tags: tagsOf(operation),
  iconUrl: `${publicUrl}${ICON_PATH}`
})

/** Returns the extensions in the challenge of a paid operation. */
export const challengeExtensions = (_operation: Operation): Extensions => ({})
