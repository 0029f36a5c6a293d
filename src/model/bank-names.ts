const NAMES: Readonly<Record<string, string>> = {
  AIRP: 'Airtel Payments Bank', AUBL: 'AU Small Finance Bank', BARB: 'Bank of Baroda',
  BDBL: 'Bandhan Bank', BKID: 'Bank of India', CBIN: 'Central Bank of India',
  CITI: 'Citibank', CIUB: 'City Union Bank', CNRB: 'Canara Bank', CSBK: 'CSB Bank',
  DBSS: 'DBS Bank India', DCBL: 'DCB Bank', DEUT: 'Deutsche Bank', DLXB: 'Dhanlaxmi Bank',
  ESFB: 'Equitas Small Finance Bank', FDRL: 'Federal Bank', HDFC: 'HDFC Bank', HSBC: 'HSBC',
  IBKL: 'IDBI Bank', ICIC: 'ICICI Bank', IDFB: 'IDFC FIRST Bank', IDIB: 'Indian Bank',
  INDB: 'IndusInd Bank', IOBA: 'Indian Overseas Bank', IPOS: 'India Post Payments Bank',
  JAKA: 'Jammu & Kashmir Bank', JIOP: 'Jio Payments Bank', JSFB: 'Jana Small Finance Bank',
  KARB: 'Karnataka Bank', KKBK: 'Kotak Mahindra Bank', KVBL: 'Karur Vysya Bank',
  MAHB: 'Bank of Maharashtra', NKGS: 'NKGSB Co-operative Bank', PSIB: 'Punjab & Sind Bank',
  PUNB: 'Punjab National Bank', PYTM: 'Paytm Payments Bank', RATN: 'RBL Bank',
  SBIN: 'State Bank of India', SCBL: 'Standard Chartered Bank', SIBL: 'South Indian Bank',
  SRCB: 'Saraswat Co-operative Bank', TMBL: 'Tamilnad Mercantile Bank', UBIN: 'Union Bank of India',
  UCBA: 'UCO Bank', UJVN: 'Ujjivan Small Finance Bank', UTIB: 'Axis Bank', UTKS: 'Utkarsh Small Finance Bank',
  YESB: 'Yes Bank',
}

/** A bank's name from an IFSC's first four letters; those letters where it is unknown. */
export const bankNameOf = (ifsc: string): string => NAMES[ifsc.slice(0, 4)] ?? ifsc.slice(0, 4)
