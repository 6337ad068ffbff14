/**
 * Numbers of the sandbox. The North American plan keeps 555-0100 to 555-0199 of every area code for fiction: they
 * belong to nobody. The first half is for sale here, the second half are people.
 */
const forSale = /^\+1([2-9]\d\d)55501[0-4]\d$/
const person = /^\+1[2-9]\d\d55501[5-9]\d$/
/** What the British regulator keeps for drama: people abroad. */
const personAbroad = /^\+447700900\d{3}$/

const e164 = /^\+[1-9]\d{6,14}$/

export const isE164 = (number: string): boolean => e164.test(number)

/** Whether a number can be a person's. */
export const isPerson = (number: string): boolean => person.test(number) || personAbroad.test(number)

/** The area code of a number out of the inventory's range. */
export const areaCodeForSale = (number: string): string | undefined => forSale.exec(number)?.[1]

/** As North Americans write it, (415) 555-0100; other numbers stay as they are. */
export const nationalFormat = (number: string): string => number.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, "($1) $2-$3")
