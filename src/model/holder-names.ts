const FIRST = [
  'AARAV',
  'ADITI',
  'AMIT',
  'ANITA',
  'ARJUN',
  'DEEPA',
  'DIVYA',
  'FARHAN',
  'GAURAV',
  'HARSHA',
  'ISHA',
  'JATIN',
  'KAVITA',
  'KIRAN',
  'LEELA',
  'MANISH',
  'MEENA',
  'NIKHIL',
  'POOJA',
  'RAHUL',
  'REKHA',
  'SAMEER',
  'SNEHA',
  'VIKRAM',
]
const LAST = [
  'AGARWAL',
  'BANERJEE',
  'CHOPRA',
  'DAS',
  'GUPTA',
  'IYER',
  'JAIN',
  'KAPOOR',
  'KHAN',
  'KULKARNI',
  'MEHTA',
  'MENON',
  'NAIR',
  'PATEL',
  'PILLAI',
  'RAO',
  'REDDY',
  'SETHI',
  'SHARMA',
  'SINGH',
  'THOMAS',
  'VARMA',
  'YADAV',
]

/** A made-up account holder; one account number always has the same one. */
export function holderNameOf(accountNumber: string): string {
  let hash = 7
  for (const digit of accountNumber) hash = (hash * 31 + digit.charCodeAt(0)) % 1_000_003
  return `${FIRST[hash % FIRST.length]} ${LAST[Math.floor(hash / FIRST.length) % LAST.length]}`
}
