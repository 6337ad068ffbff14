import { ASIA } from "./Asia.ts"
import { ENGLISH } from "./English.ts"
import { EUROPE } from "./Europe.ts"
import type { LabeledMail } from "./LabeledMail.ts"
import { MORE } from "./More.ts"
import { NO_CODE } from "./NoCode.ts"

export const LABELED_MAILS: ReadonlyArray<LabeledMail> = [...ENGLISH, ...EUROPE, ...ASIA, ...NO_CODE, ...MORE]
