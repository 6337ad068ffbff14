import type { CarrierStore, OwnedNumber } from "../CarrierStore.ts"
import {
  type AreaCode,
  areaCodeForSale,
  areaCodes,
  areaOf,
  availableNumbers,
  type Coordinates,
  type Country,
  isE164,
  isInInventory,
  milesBetween,
  nationalFormat
} from "../PhoneNumbers.ts"
import {
  badParameter,
  checkForm,
  methodNotAllowed,
  notFound,
  respond,
  type RunWithFaults,
  TwilioError,
  type TwilioForm,
  type TwilioRequest,
  type TwilioResponse
} from "./TwilioRequest.ts"
import { newSid, pageParameters, toAvailableNumber, toIncomingNumber, toPage } from "./TwilioResource.ts"

/** The numbers for sale and the owned numbers. */
export type NumberApi = ReturnType<typeof makeNumberApi>

const capabilityParameters = ["VoiceEnabled", "SmsEnabled", "MmsEnabled", "FaxEnabled"] as const
const searchParameters = [
  "AreaCode",
  "Contains",
  "InRegion",
  "InLocality",
  "NearNumber",
  "NearLatLong",
  "Distance",
  "PageSize",
  ...capabilityParameters
]
const settingParameters = [
  "FriendlyName",
  "ApiVersion",
  "VoiceUrl",
  "VoiceMethod",
  "VoiceFallbackUrl",
  "VoiceFallbackMethod",
  "VoiceReceiveMode",
  "StatusCallback",
  "StatusCallbackMethod"
]
const distanceMilesDefault = 25
const pageSizeDefault = 50

export const makeNumberApi = (accountSid: string, store: CarrierStore, runWithFaults: RunWithFaults) => {
  const toItem = (number: OwnedNumber) => toIncomingNumber(accountSid, number)
  const byPhoneNumber = (phoneNumber: string) =>
    [...store.numbers.values()].find((number) => number.phoneNumber === phoneNumber)
  const ownedPhoneNumbers = () => new Set([...store.numbers.values()].map(({ phoneNumber }) => phoneNumber))
  /** The numbers whose purchase is being written. */
  const reserved = new Set<string>()

  const search = async ({ method, path, query }: TwilioRequest, country: string): Promise<TwilioResponse> => {
    if (method !== "GET") throw methodNotAllowed(method)
    if (country !== "US" && country !== "CA") throw notFound(path)
    const form = checkForm(query, searchParameters)
    const matchesArea = areaFilter(form)
    const size = form.integer("PageSize", 1, 1_000) ?? pageSizeDefault
    const forbidden = new TwilioError(403, 20403, "Sandbox fault: search rejected")
    return runWithFaults("search", [country, form.text("AreaCode") ?? ""], forbidden, async () => {
      const numbers = hasCapabilities(form) ? availableNumbers(country, matchesArea, ownedPhoneNumbers()) : []
      const pattern = containsPattern(form.text("Contains"))
      const found = numbers.filter(({ phoneNumber }) => pattern.test(phoneNumber)).slice(0, size)
      return respond(200, { available_phone_numbers: found.map(toAvailableNumber), uri: uriOf(path, query) })
    })
  }

  const buy = ({ form: params }: TwilioRequest): Promise<TwilioResponse> => {
    const form = checkForm(params, ["PhoneNumber", ...settingParameters])
    const phoneNumber = form.required("PhoneNumber", badParameter("Sandbox: PhoneNumber is required"))
    if (!isE164(phoneNumber)) throw new TwilioError(400, 21421, `${phoneNumber} is not a valid phone number`)
    const settings = readSettings(form)
    const unavailable = new TwilioError(400, 21422, `${phoneNumber} is not available`)
    return runWithFaults("buy", [phoneNumber, areaCodeForSale(phoneNumber) ?? ""], unavailable, async () => {
      const isTaken = byPhoneNumber(phoneNumber) !== undefined || reserved.has(phoneNumber)
      if (!isInInventory(phoneNumber) || isTaken) throw unavailable
      reserved.add(phoneNumber)
      try {
        const now = Date.now()
        const sid = newSid("PN")
        const allSettings = { ...defaultSettings(phoneNumber), ...settings }
        const number: OwnedNumber = { sid, phoneNumber, ...allSettings, createdAt: now, updatedAt: now }
        await store.putNumber(number)
        return respond(201, toItem(number))
      } finally {
        reserved.delete(phoneNumber)
      }
    })
  }

  const listNumbers = async ({ path, query }: TwilioRequest): Promise<TwilioResponse> => {
    const form = checkForm(query, ["PhoneNumber", "FriendlyName", ...pageParameters])
    const [phoneNumber, friendlyName] = [form.text("PhoneNumber"), form.text("FriendlyName")]
    const numbers = [...store.numbers.values()]
      .filter((number) => phoneNumber === undefined || matches(number.phoneNumber, phoneNumber))
      .filter((number) => friendlyName === undefined || number.friendlyName === friendlyName)
      .toReversed()
    return respond(200, toPage({ key: "incoming_phone_numbers", path, query, form, resources: numbers, toItem }))
  }

  const update = (number: OwnedNumber, { form: params }: TwilioRequest): Promise<TwilioResponse> => {
    const settings = readSettings(checkForm(params, settingParameters))
    const rejection = badParameter("Sandbox fault: update rejected")
    return runWithFaults("update", [number.sid, number.phoneNumber], rejection, async () => {
      const changed = { ...number, ...settings, updatedAt: Date.now() }
      await store.putNumber(changed)
      return respond(200, toItem(changed))
    })
  }

  const release = (number: OwnedNumber): Promise<TwilioResponse> => {
    const forbidden = new TwilioError(403, 20403, "Sandbox fault: release rejected")
    return runWithFaults("release", [number.sid, number.phoneNumber], forbidden, async () => {
      await store.deleteNumber(number.sid)
      return respond(204)
    })
  }

  return {
    search,
    list: async (request: TwilioRequest): Promise<TwilioResponse> => {
      if (request.method === "POST") return buy(request)
      if (request.method === "GET") return listNumbers(request)
      throw methodNotAllowed(request.method)
    },
    instance: async (request: TwilioRequest, sid: string): Promise<TwilioResponse> => {
      const number = store.numbers.get(sid)
      if (number === undefined) throw notFound(request.path)
      if (request.method === "POST") return update(number, request)
      checkForm(request.query, [])
      if (request.method === "GET") return respond(200, toItem(number))
      if (request.method === "DELETE") return release(number)
      throw methodNotAllowed(request.method)
    }
  }
}

type Settings = Omit<OwnedNumber, "sid" | "phoneNumber" | "createdAt" | "updatedAt">

const defaultSettings = (phoneNumber: string): Settings => ({
  friendlyName: nationalFormat(phoneNumber),
  voiceUrl: null,
  voiceMethod: "POST",
  voiceFallbackUrl: null,
  voiceFallbackMethod: "POST",
  statusCallback: null,
  statusCallbackMethod: "POST"
})

/** Reads the settings in a form. An empty URL removes the previous one. */
const readSettings = (form: TwilioForm): Partial<Settings> => {
  const url = (name: string) => {
    const value = form.url(name, 21_402)
    return value === "" ? null : value
  }
  const settings: { readonly [Key in keyof Settings]: Settings[Key] | undefined } = {
    friendlyName: form.text("FriendlyName"),
    voiceUrl: url("VoiceUrl"),
    voiceMethod: form.method("VoiceMethod"),
    voiceFallbackUrl: url("VoiceFallbackUrl"),
    voiceFallbackMethod: form.method("VoiceFallbackMethod"),
    statusCallback: url("StatusCallback"),
    statusCallbackMethod: form.method("StatusCallbackMethod")
  }
  if (form.has("VoiceReceiveMode") && form.text("VoiceReceiveMode") !== "voice") {
    throw badParameter("Sandbox: VoiceReceiveMode must be voice")
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Partial<Settings>
}

const uriOf = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query.toString()}`

/** In a filter, a star matches any digits. */
const matches = (phoneNumber: string, filter: string): boolean =>
  new RegExp(`^${filter.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "\\d*")}$`).test(phoneNumber)

/** In `Contains`, a star matches one digit. */
const containsPattern = (text: string | undefined): RegExp => {
  if (text === undefined) return /^/
  if (!/^\+?[\d*]{2,16}$/.test(text)) throw badParameter("Sandbox: Contains must consist of digits and stars")
  return new RegExp(text.replace("+", "\\+").replaceAll("*", "\\d"))
}

/** All numbers have the same capabilities. */
const hasCapabilities = (form: TwilioForm): boolean =>
  capabilityParameters.every((name) => [undefined, name !== "FaxEnabled"].includes(form.flag(name)))

const areaFilter = (form: TwilioForm): ((area: AreaCode) => boolean) => {
  const code = form.text("AreaCode")
  if (code !== undefined && !/^[2-9]\d\d$/.test(code)) throw new TwilioError(400, 21451, `Invalid area code: ${code}`)
  const [region, locality] = [form.text("InRegion"), form.text("InLocality")]
  const near = readNear(form)
  const miles = form.integer("Distance", 1, 500) ?? distanceMilesDefault
  return (area) =>
    (code === undefined || area.code === code) &&
    (region === undefined || area.region === region) &&
    (locality === undefined || area.locality === locality) &&
    (near === undefined || (near !== null && milesBetween(area, near) <= miles))
}

/** Returns null for an unknown place. */
const readNear = (form: TwilioForm): Coordinates | null | undefined => {
  const [number, place] = [form.text("NearNumber"), form.text("NearLatLong")]
  if (number !== undefined) return areaOf(areaCodeForSale(number) ?? number.slice(2, 5)) ?? null
  if (place === undefined) return undefined
  const [, latitude, longitude] = /^(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)$/.exec(place) ?? []
  if (latitude === undefined || longitude === undefined) throw badParameter("NearLatLong must be latitude,longitude")
  return { latitude: Number(latitude), longitude: Number(longitude) }
}

/** Returns the area codes with numbers for sale, by country. */
export const availableAreaCodes = (): Readonly<Record<Country, ReadonlyArray<string>>> => ({
  US: areaCodes.filter(({ country }) => country === "US").map(({ code }) => code),
  CA: areaCodes.filter(({ country }) => country === "CA").map(({ code }) => code)
})
