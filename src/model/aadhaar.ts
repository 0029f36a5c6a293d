const TURNED = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]

/** The product of two symmetries of a pentagon: 0 to 4 are rotations, 5 to 9 reflections. */
function product(a: number, b: number): number {
  if (a < 5) return b < 5 ? (a + b) % 5 : 5 + ((a + b) % 5)
  return b < 5 ? 5 + ((a - b) % 5) : (a - b + 5) % 5
}

/** Whether 12 digits end in the check digit of an Aadhaar number (Verhoeff's scheme). */
export function isAadhaar(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    let digit = Number(digits[digits.length - 1 - place])
    for (let turn = 0; turn < place % 8; turn++) digit = TURNED[digit]!
    sum = product(sum, digit)
  }
  return sum === 0
}
