package main

import (
	"context"
	"regexp"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"cqbench/gateway/library"
)

const (
	page        = 10 // books, where the request does not say
	largestPage = 1000
	newID       = "new"
)

var bookID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// service answers as grpc_ping_server does. It keeps nothing: a book that was changed is as before for the next call.
type service struct {
	library.UnimplementedLibraryServiceServer
}

func noBook(name string) error  { return status.Errorf(codes.NotFound, "there is no book '%s'", name) }
func noShelf(name string) error { return status.Errorf(codes.NotFound, "there is no shelf '%s'", name) }
func invalid(format string, arguments ...any) error {
	return status.Errorf(codes.InvalidArgument, format, arguments...)
}

func (service) GetBook(_ context.Context, request *library.GetBookRequest) (*library.Book, error) {
	shelf, book := findBook(request.GetName())
	if shelf == 0 {
		return nil, noBook(request.GetName())
	}
	return makeBook(shelf, book), nil
}

// booksOf: which books of which shelf a request is for, from the first one to the last.
func booksOf(request *library.ListBooksRequest, most int) (shelf, first, last int, err error) {
	if shelf = findShelf(request.GetParent()); shelf == 0 {
		return 0, 0, 0, noShelf(request.GetParent())
	}
	count, before := int(request.GetPageSize()), 0
	if count < 0 {
		return 0, 0, 0, invalid("page_size is negative")
	}
	if count == 0 {
		count = page
	}
	if token := request.GetPageToken(); token != "" {
		if before, err = strconv.Atoi(token); err != nil || before < 0 || before >= booksOfShelf {
			return 0, 0, 0, invalid("page_token '%s' is none of this server's", token)
		}
	}
	return shelf, before + 1, before + min(count, most, booksOfShelf-before), nil
}

func (service) ListBooks(_ context.Context, request *library.ListBooksRequest) (*library.ListBooksResponse, error) {
	shelf, first, last, err := booksOf(request, largestPage)
	if err != nil {
		return nil, err
	}
	response := &library.ListBooksResponse{Books: make([]*library.Book, 0, last-first+1)}
	for book := first; book <= last; book++ {
		response.Books = append(response.Books, makeBook(shelf, book))
	}
	if last < booksOfShelf {
		response.NextPageToken = strconv.Itoa(last)
	}
	return response, nil
}

func (service) StreamBooks(request *library.ListBooksRequest, stream grpc.ServerStreamingServer[library.Book]) error {
	shelf, first, last, err := booksOf(request, booksOfShelf)
	for book := first; err == nil && book <= last; book++ {
		err = stream.Send(makeBook(shelf, book))
	}
	return err
}

func (service) CreateBook(_ context.Context, request *library.CreateBookRequest) (*library.Book, error) {
	if findShelf(request.GetParent()) == 0 {
		return nil, noShelf(request.GetParent())
	}
	if request.GetBook() == nil {
		return nil, invalid("there is no book in the request")
	}
	id := request.GetBookId()
	if id == "" {
		id = newID
	}
	if !bookID.MatchString(id) {
		return nil, invalid("book_id is not 1 to 64 letters, digits, '-', '_' and '.'")
	}
	book := request.GetBook()
	book.Name = request.GetParent() + "/books/" + id
	if shelf, _ := findBook(book.Name); shelf != 0 {
		return nil, status.Errorf(codes.AlreadyExists, "there is a book '%s'", book.Name)
	}
	return book, nil
}

func (service) UpdateBook(_ context.Context, request *library.UpdateBookRequest) (*library.Book, error) {
	given := request.GetBook()
	shelf, number := findBook(given.GetName())
	if shelf == 0 {
		return nil, noBook(given.GetName())
	}
	book := makeBook(shelf, number)
	paths := request.GetUpdateMask().GetPaths()
	if len(paths) == 0 {
		paths = givenFields(given)
	}
	for _, path := range paths {
		if !setField(path, given, book) {
			return nil, invalid("update_mask: '%s' is no field of a book that can be changed", path)
		}
	}
	return book, nil
}

func (service) DeleteBook(_ context.Context, request *library.DeleteBookRequest) (*emptypb.Empty, error) {
	if shelf, _ := findBook(request.GetName()); shelf == 0 {
		return nil, noBook(request.GetName())
	}
	return &emptypb.Empty{}, nil
}

// givenFields: what an update without a mask replaces.
func givenFields(book *library.Book) []string {
	var paths []string
	for _, field := range []struct {
		path  string
		given bool
	}{
		{"author", book.GetAuthor() != ""},
		{"title", book.GetTitle() != ""},
		{"read", book.GetRead()},
		{"page_count", book.GetPageCount() != 0},
		{"publish_time", book.GetPublishTime() != nil},
		{"subjects", len(book.GetSubjects()) > 0},
	} {
		if field.given {
			paths = append(paths, field.path)
		}
	}
	return paths
}

// setField: false for what is no such field.
func setField(path string, from, to *library.Book) bool {
	switch path {
	case "author":
		to.Author = from.GetAuthor()
	case "title":
		to.Title = from.GetTitle()
	case "read":
		to.Read = from.GetRead()
	case "page_count":
		to.PageCount = from.GetPageCount()
	case "publish_time":
		to.PublishTime = from.GetPublishTime()
	case "subjects":
		to.Subjects = from.GetSubjects()
	default:
		return false
	}
	return true
}
