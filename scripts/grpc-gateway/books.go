package main

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"cqbench/gateway/library"
)

// The books of grpc_ping_server, made from their numbers: shelves and books are counted from 1.
const (
	shelves      = 100
	booksOfShelf = 1_000_000
)

var (
	authors = []string{"F. Scott Fitzgerald", "Mary Shelley", "Herman Melville", "Charlotte Bronte"}
	titles  = []string{"The Great Gatsby", "Frankenstein", "Moby Dick", "Jane Eyre", "The Last Man"}
)

// takeNumber: a number of 1 to most, without zeros before it; 0 where the text is none.
func takeNumber(text string, most int) int {
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > most || strconv.Itoa(number) != text {
		return 0
	}
	return number
}

// findShelf: the number of "shelves/1"; 0: there is none.
func findShelf(name string) int {
	number, found := strings.CutPrefix(name, "shelves/")
	if !found {
		return 0
	}
	return takeNumber(number, shelves)
}

// findBook: the numbers of "shelves/1/books/2"; 0, 0: there is none.
func findBook(name string) (shelf, book int) {
	of, number, found := strings.Cut(name, "/books/")
	if !found {
		return 0, 0
	}
	shelf, book = findShelf(of), takeNumber(number, booksOfShelf)
	if shelf == 0 || book == 0 {
		return 0, 0
	}
	return shelf, book
}

func makeBook(shelf, book int) *library.Book {
	return &library.Book{
		Name:        fmt.Sprintf("shelves/%d/books/%d", shelf, book),
		Author:      authors[book%len(authors)],
		Title:       titles[book%len(titles)],
		Read:        true,
		PageCount:   int32(100 + book%900),
		PublishTime: &timestamppb.Timestamp{Seconds: 1_000_000_000 + 86_400*int64(book)},
		Subjects:    []string{"fiction", "classics"},
	}
}
