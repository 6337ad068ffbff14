import type { CarrierStore, OwnedNumber } from "./CarrierStore.ts"
import { type AreaCode, areaCodes, areaOf, type Country, milesBetween } from "./number/AreaCode.ts"
import { isInInventory, offeredNumbers } from "./number/Inventory.ts"
import { areaCodeForSale, isE164, nationalFormat } from "./number/Telephone.ts"
import { badParameter, methodNotAllowed, notFound, TwilioError } from "./twilio/TwilioError.ts"
import { checkForm, type TwilioForm } from "./twilio/TwilioForm.ts"
import { pageOf, pageParameters } from "./twilio/TwilioPage.ts"
import { newSid, showNumber, showOffered } from "./twilio/TwilioResource.ts"
import { answer, type TwilioAnswer, type TwilioRequest, type WithFaults } from "./TwilioRequest.ts"

/** Numbers for sale, and numbers that are owned. */
export interface NumberApi {
  readonly search: (request: TwilioRequest, country: string) => Promise<TwilioAnswer>
  readonly owned: (request: TwilioRequest) => Promise<TwilioAnswer>
  readonly one: (request: TwilioRequest, sid: string) => Promise<TwilioAnswer>
}

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

export const makeNumberApi = (accountSid: string, store: CarrierStore, faulty: WithFaults): NumberApi => {
  const show = (number: OwnedNumber) => showNumber(accountSid, number)
  const byPhoneNumber = (phoneNumber: string) =>
    [...store.numbers.values()].find((number) => number.phoneNumber === phoneNumber)
  const ownedPhoneNumbers = () => new Set([...store.numbers.values()].map(({ phoneNumber }) => phoneNumber))
  /** Numbers whose purchase is being kept: the next buyer comes too late. */
  const takenNow = new Set<string>()

  const search: NumberApi["search"] = async ({ method, path, query }, country) => {
    if (method !== "GET") throw methodNotAllowed(method)
    if (country !== "US" && country !== "CA") throw notFound(path)
    const form = checkForm(query, searchParameters)
    const wanted = wantedAreas(form)
    const size = form.whole("PageSize", 1, 1_000) ?? pageSizeDefault
    const forbidden = new TwilioError(403, 20403, "Sandbox fault: this account may not search")
    return faulty("search", [country, form.text("AreaCode") ?? ""], forbidden, async () => {
      const numbers = offersAll(form) ? offeredNumbers(country, wanted, ownedPhoneNumbers()) : []
      const pattern = contains(form.text("Contains"))
      const found = numbers.filter(({ phoneNumber }) => pattern.test(phoneNumber)).slice(0, size)
      return answer(200, { available_phone_numbers: found.map(showOffered), uri: addressOf(path, query) })
    })
  }

  const buy = ({ form: params }: TwilioRequest): Promise<TwilioAnswer> => {
    const form = checkForm(params, ["PhoneNumber", ...settingParameters])
    const phoneNumber = form.required("PhoneNumber", badParameter("Sandbox: buys by PhoneNumber alone"))
    if (!isE164(phoneNumber)) throw new TwilioError(400, 21421, `${phoneNumber} is not a valid phone number`)
    const settings = readSettings(form)
    const unavailable = new TwilioError(400, 21422, `${phoneNumber} is not available`)
    return faulty("buy", [phoneNumber, areaCodeForSale(phoneNumber) ?? ""], unavailable, async () => {
      const isTaken = byPhoneNumber(phoneNumber) !== undefined || takenNow.has(phoneNumber)
      if (!isInInventory(phoneNumber) || isTaken) throw unavailable
      takenNow.add(phoneNumber)
      try {
        const now = Date.now()
        const sid = newSid("PN")
        const fresh = { ...unset(phoneNumber), ...settings }
        const number: OwnedNumber = { sid, phoneNumber, ...fresh, createdAt: now, updatedAt: now }
        await store.putNumber(number)
        return answer(201, show(number))
      } finally {
        takenNow.delete(phoneNumber)
      }
    })
  }

  const list = async ({ path, query }: TwilioRequest): Promise<TwilioAnswer> => {
    const form = checkForm(query, ["PhoneNumber", "FriendlyName", ...pageParameters])
    const [phoneNumber, friendlyName] = [form.text("PhoneNumber"), form.text("FriendlyName")]
    const numbers = [...store.numbers.values()]
      .filter((number) => phoneNumber === undefined || matches(number.phoneNumber, phoneNumber))
      .filter((number) => friendlyName === undefined || number.friendlyName === friendlyName)
      .toReversed()
    return answer(200, pageOf({ key: "incoming_phone_numbers", path, query, form, resources: numbers, show }))
  }

  const update = (number: OwnedNumber, { form: params }: TwilioRequest): Promise<TwilioAnswer> => {
    const settings = readSettings(checkForm(params, settingParameters))
    const refused = badParameter("Sandbox fault: the number can't be changed")
    return faulty("update", [number.sid, number.phoneNumber], refused, async () => {
      const changed = { ...number, ...settings, updatedAt: Date.now() }
      await store.putNumber(changed)
      return answer(200, show(changed))
    })
  }

  const release = (number: OwnedNumber): Promise<TwilioAnswer> => {
    const forbidden = new TwilioError(403, 20403, "Sandbox fault: the number can't be released")
    return faulty("release", [number.sid, number.phoneNumber], forbidden, async () => {
      await store.deleteNumber(number.sid)
      return answer(204)
    })
  }

  return {
    search,
    owned: async (request) => {
      if (request.method === "POST") return buy(request)
      if (request.method === "GET") return list(request)
      throw methodNotAllowed(request.method)
    },
    one: async (request, sid) => {
      const number = store.numbers.get(sid)
      if (number === undefined) throw notFound(request.path)
      if (request.method === "POST") return update(number, request)
      checkForm(request.query, [])
      if (request.method === "GET") return answer(200, show(number))
      if (request.method === "DELETE") return release(number)
      throw methodNotAllowed(request.method)
    }
  }
}

type Settings = Omit<OwnedNumber, "sid" | "phoneNumber" | "createdAt" | "updatedAt">

const unset = (phoneNumber: string): Settings => ({
  friendlyName: nationalFormat(phoneNumber),
  voiceUrl: null,
  voiceMethod: "POST",
  voiceFallbackUrl: null,
  voiceFallbackMethod: "POST",
  statusCallback: null,
  statusCallbackMethod: "POST"
})

/** What a form sets. An empty address takes away the one before. */
const readSettings = (form: TwilioForm): Partial<Settings> => {
  const url = (name: string) => {
    const given = form.url(name, 21_402)
    return given === "" ? null : given
  }
  const read: { readonly [Key in keyof Settings]: Settings[Key] | undefined } = {
    friendlyName: form.text("FriendlyName"),
    voiceUrl: url("VoiceUrl"),
    voiceMethod: form.method("VoiceMethod"),
    voiceFallbackUrl: url("VoiceFallbackUrl"),
    voiceFallbackMethod: form.method("VoiceFallbackMethod"),
    statusCallback: url("StatusCallback"),
    statusCallbackMethod: form.method("StatusCallbackMethod")
  }
  if (form.has("VoiceReceiveMode") && form.text("VoiceReceiveMode") !== "voice") {
    throw badParameter("Sandbox: numbers take voice alone")
  }
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as Partial<Settings>
}

const addressOf = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query.toString()}`

/** A filter on numbers may leave digits open by a star. */
const matches = (phoneNumber: string, filter: string): boolean =>
  new RegExp(`^${filter.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "\\d*")}$`).test(phoneNumber)

/** Digits that are to be in the number; a star stands for any one. */
const contains = (text: string | undefined): RegExp => {
  if (text === undefined) return /^/
  if (!/^\+?[\d*]{2,16}$/.test(text)) throw badParameter("Sandbox: Contains takes digits and stars")
  return new RegExp(text.replace("+", "\\+").replaceAll("*", "\\d"))
}

/** Every number here can do the same. */
const offersAll = (form: TwilioForm): boolean =>
  capabilityParameters.every((name) => [undefined, name !== "FaxEnabled"].includes(form.flag(name)))

const wantedAreas = (form: TwilioForm): ((area: AreaCode) => boolean) => {
  const code = form.text("AreaCode")
  if (code !== undefined && !/^[2-9]\d\d$/.test(code)) throw new TwilioError(400, 21451, `Invalid area code: ${code}`)
  const [region, locality] = [form.text("InRegion"), form.text("InLocality")]
  const near = nearPlace(form)
  const miles = form.whole("Distance", 1, 500) ?? distanceMilesDefault
  return (area) =>
    (code === undefined || area.code === code) &&
    (region === undefined || area.region === region) &&
    (locality === undefined || area.locality === locality) &&
    (near === undefined || (near !== null && milesBetween(area, near) <= miles))
}

type Place = Pick<AreaCode, "latitude" | "longitude">

/** Null where nobody knows the place. */
const nearPlace = (form: TwilioForm): Place | null | undefined => {
  const [number, place] = [form.text("NearNumber"), form.text("NearLatLong")]
  if (number !== undefined) return areaOf(areaCodeForSale(number) ?? number.slice(2, 5)) ?? null
  if (place === undefined) return undefined
  const [, latitude, longitude] = /^(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)$/.exec(place) ?? []
  if (latitude === undefined || longitude === undefined) throw badParameter("NearLatLong must be latitude,longitude")
  return { latitude: Number(latitude), longitude: Number(longitude) }
}

/** By country, for those who ask what there is. */
export const listedAreaCodes = (): Readonly<Record<Country, ReadonlyArray<string>>> => ({
  US: areaCodes.filter(({ country }) => country === "US").map(({ code }) => code),
  CA: areaCodes.filter(({ country }) => country === "CA").map(({ code }) => code)
})
