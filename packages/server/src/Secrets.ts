import { randomBytes } from "node:crypto"

/** A line of AGENTOS_KEYS, with a new secret of 32 bytes. */
export const newKey = (id: number): string => `${id}:${randomBytes(32).toString("base64")}`

/** A new value of AGENTOS_OPERATOR_TOKEN. */
export const newOperatorToken = (): string => randomBytes(32).toString("hex")
