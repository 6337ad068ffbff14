import type { Voice } from "@agentos/core"

/** The values of the attribute `ttsProvider`. */
type Vendor = "Google" | "Amazon"

/**
 * Voices of Google's Chirp 3 HD family, each of which exists in each of these languages
 * (https://cloud.google.com/text-to-speech/docs/chirp3-hd).
 */
const CHIRP_VOICES = ["Aoede", "Charon", "Fenrir", "Kore", "Leda", "Orus", "Puck", "Zephyr"]
const CHIRP_LANGUAGES = [
  "en-US",
  "en-GB",
  "en-AU",
  "en-IN",
  "es-ES",
  "es-US",
  "fr-FR",
  "fr-CA",
  "de-DE",
  "it-IT"
].concat(["nl-NL", "pt-BR", "pl-PL", "tr-TR", "ja-JP", "ko-KR", "cmn-CN", "hi-IN", "id-ID", "vi-VN", "th-TH", "ru-RU"])

/** Voices of Google's Neural2 family (https://cloud.google.com/text-to-speech/docs/list-voices-and-types). */
const GOOGLE: Readonly<Record<string, ReadonlyArray<string>>> = {
  "en-US": ["Neural2-A", "Neural2-C", "Neural2-D", "Neural2-F"],
  "en-GB": ["Neural2-N", "Neural2-O"],
  "en-AU": ["Neural2-A", "Neural2-B", "Neural2-C", "Neural2-D"],
  "es-US": ["Neural2-A", "Neural2-B", "Neural2-C"],
  "fr-CA": ["Neural2-A", "Neural2-B", "Neural2-C", "Neural2-D"]
}

/** Neural voices of Amazon Polly (https://docs.aws.amazon.com/polly/latest/dg/neural-voices.html). */
const AMAZON: Readonly<Record<string, ReadonlyArray<string>>> = {
  "en-US": ["Danielle", "Gregory", "Ivy", "Joanna", "Joey", "Justin", "Kendra", "Kevin", "Kimberly"].concat([
    "Matthew",
    "Ruth",
    "Salli",
    "Stephen"
  ]),
  "en-GB": ["Amy", "Arthur", "Brian", "Emma"],
  "en-AU": ["Olivia"],
  "en-IE": ["Niamh"],
  "en-NZ": ["Aria"],
  "en-ZA": ["Ayanda"],
  "es-ES": ["Lucia", "Sergio"],
  "es-MX": ["Andres", "Mia"],
  "es-US": ["Lupe", "Pedro"],
  "fr-CA": ["Gabrielle", "Liam"],
  "fr-FR": ["Lea", "Remi"],
  "de-AT": ["Hannah"],
  "de-DE": ["Daniel", "Vicki"],
  "it-IT": ["Adriano", "Bianca"],
  "nl-NL": ["Laura"],
  "pt-BR": ["Camila", "Thiago", "Vitoria"],
  "pt-PT": ["Ines"],
  "pl-PL": ["Ola"],
  "sv-SE": ["Elin"],
  "da-DK": ["Sofie"],
  "fi-FI": ["Suvi"],
  "nb-NO": ["Ida"],
  "ja-JP": ["Kazuha", "Takumi", "Tomoko"],
  "ko-KR": ["Seoyeon"]
}

const named = (vendor: Vendor, language: string, voice: string): Voice => ({ voice, language, vendor })

/**
 * The voices that a number can be bought with: a selection from Twilio's table of voices
 * (https://www.twilio.com/docs/voice/twiml/say/text-speech), in the form that it states for ConversationRelay: the name
 * without the prefix of the provider, Amazon's names with the engine. Each is also in the library `twilio` 6.3.1 of
 * 2026-11-18, which a test checks. ElevenLabs has voices by id alone, which can't be listed.
 */
export const VOICES: ReadonlyArray<Voice> = [
  ...CHIRP_LANGUAGES.flatMap((language) =>
    CHIRP_VOICES.map((name) => named("Google", language, `${language}-Chirp3-HD-${name}`))
  ),
  ...Object.entries(GOOGLE).flatMap(([language, names]) =>
    names.map((name) => named("Google", language, `${language}-${name}`))
  ),
  ...Object.entries(AMAZON).flatMap(([language, names]) =>
    names.map((name) => named("Amazon", language, `${name}-Neural`))
  )
]

const byName = new Map(VOICES.map((known) => [known.voice, known]))

/**
 * Returns the voice, its language and its vendor for the attributes of a relay, from the values that the number was bought with. A
 * number that was bought before voices were checked keeps its values as they are.
 */
export const relayVoice = ({
  language,
  voice
}: {
  readonly voice: string | null
  readonly language: string | null
}): { readonly voice: string | null; readonly language: string | null; readonly vendor: string | null } => {
  const known = voice === null ? undefined : byName.get(voice)
  return { voice, language: language ?? known?.language ?? null, vendor: known?.vendor ?? null }
}
