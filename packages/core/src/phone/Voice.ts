import { Schema } from "effect"

/** A voice that a carrier can speak with. */
export const Voice = Schema.Struct({
  voice: Schema.String.annotateKey({ description: "Name of the voice, the value of `voice` in a purchase." }),
  language: Schema.String.annotateKey({
    description: "Language that it speaks as a BCP 47 tag, the value of `language`."
  }),
  vendor: Schema.String.annotateKey({ description: "Company that makes the voice." })
}).annotate({ identifier: "Voice" })
export type Voice = typeof Voice.Type

/** The maximum number of alternatives in an error message. */
const NAMED = 3
const LIST = "GET /api/v1/phone/voices lists them."

/**
 * Returns which field names a voice or language that the carrier can't speak and why, or undefined if both are valid. An
 * omitted or empty field is valid: the carrier then selects one that fits the other.
 */
export const voiceRefusal = (
  voices: ReadonlyArray<Voice>,
  { language = "", voice = "" }: { readonly voice?: string | undefined; readonly language?: string | undefined }
): { readonly field: "voice" | "language"; readonly message: string } | undefined => {
  const spoken = new Set(voices.map((known) => known.language))
  if (language !== "" && !spoken.has(language)) {
    const [sameCase] = [...spoken].filter((known) => known.toLowerCase() === language.toLowerCase())
    const [primary] = language.toLowerCase().split("-")
    const close = [...spoken].filter((known) => known.toLowerCase().startsWith(`${primary}-`)).slice(0, NAMED)
    const choice = sameCase ?? close.join(", ")
    const hint = choice === "" ? LIST : `Use ${choice}; ${LIST}`
    return { field: "language", message: `must be a language that the carrier speaks. ${hint}` }
  }
  if (voice === "") return undefined
  const own = voices.find((known) => known.voice === voice)
  if (own === undefined) return { field: "voice", message: `must be a voice that the carrier has. ${LIST}` }
  return language === "" || own.language === language
    ? undefined
    : { field: "voice", message: `must speak the language ${language}, and ${voice} speaks ${own.language}. ${LIST}` }
}
